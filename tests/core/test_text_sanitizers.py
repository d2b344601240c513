"""The headers of the text core under the sanitizers, for a few seconds."""

from __future__ import annotations

import importlib.util

import pytest
from tests.conftest import ROOT


def load_tool():
    path = ROOT / "tools" / "sanitize_text_core.py"
    spec = importlib.util.spec_from_file_location("sanitize_text_core", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("sanitizers", ["address,undefined"])
def test_clean_under_the_sanitizers(sanitizers, tmp_path):
    tool = load_tool()
    program = tool.build(tmp_path, sanitizers)
    if program is None:
        pytest.skip("no C++ compiler with address and undefined sanitizers here")
    output = tool.run(program, tmp_path, seed=1, seconds=3)
    assert int(output.split()[0]) > 0
    assert {path.name for path in tmp_path.iterdir()} == {program.name, "tables.bin"}
