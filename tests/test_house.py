"""The rules of the house: lint, types, layers, and documents that tell the truth."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import pkgutil
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from tests.patience import HANGS

import bayesieve

ROOT = Path(__file__).resolve().parents[1]
LINT_IMPORTS = "from importlinter.cli import lint_imports_command as run; run()"


def run_tool(module, *arguments):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed (it comes with the 'test' extra)")
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def test_ruff_check():
    run_tool("ruff", "-m", "ruff", "check", "--no-cache", ".")


def test_ruff_format():
    run_tool("ruff", "-m", "ruff", "format", "--check", "--no-cache", ".")


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.3.0",
    reason="types are checked as newer NumPy declares its own",
)
def test_mypy(tmp_path):
    run_tool("mypy", "-m", "mypy", "--cache-dir", str(tmp_path))


def test_import_contracts():
    run_tool("importlinter", "-c", LINT_IMPORTS, "--no-cache")


def test_nothing_holds_a_lock_while_it_computes():
    # Before Python 3.12 functools.cached_property does, and a forked child may hang.
    sources = (ROOT / "src").rglob("*.py")
    imports = re.compile(
        r"^\s*(from functools import .*|.*functools\.)cached_property\b"
    )
    found = [
        f"{path.relative_to(ROOT)}: {line}"
        for path in sources
        for line in path.read_text(encoding="utf-8").splitlines()
        if imports.match(line) and "``" not in line
    ]
    assert not found, "use bayesieve.utils._computed_once instead:\n" + "\n".join(found)


def modules():
    names = [
        info.name for info in pkgutil.walk_packages(bayesieve.__path__, "bayesieve.")
    ]
    return [name for name in names if not name.endswith(".__main__")]


@pytest.mark.parametrize("name", modules())
def test_docstring_examples_run(name):
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testmod(importlib.import_module(name), optionflags=flags)
    assert result.failed == 0  # doctest has printed what differs


@pytest.fixture(scope="module")
def readme():
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def changelog():
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def python_blocks(text):
    return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)


def test_readme_examples_run(readme, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = []
    for block in python_blocks(readme):  # each by itself, as a reader copies it
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
        printed.append(capsys.readouterr().out)
    words, verdict = printed
    assert re.match(r"\d+ words: \['spam'\] Without '\w+'.* would be ham", words)
    assert "'claim'" in words
    assert "proven optimal: True" in words
    assert re.match(r"Right on 9\d\.\d % of new rows", verdict)
    assert "Right on 9" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "spam.model").exists()


def test_all_python_of_the_readme_is_in_blocks_that_are_run(readme):
    outside = re.sub(r"^```.*?^```$", "", readme, flags=re.M | re.S)
    indented = re.findall(r"^    (\S.*)$", outside, re.M)
    assert indented
    assert all(line.startswith("python3 dev.py ") for line in indented)


def test_readme_example_is_ten_lines(readme):
    block = python_blocks(readme)[0]
    assert len([line for line in block.splitlines() if line]) <= 10


def test_readme_commands_are_those_of_dev_py(readme):
    named = re.findall(r"^    python3 dev\.py (\w+)", readme, re.M)
    assert named == ["demo", "test"]
    done = subprocess.run(
        [sys.executable, "dev.py", "--help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
    )
    offered = re.findall(r"^python3 dev\.py (\w+)", done.stdout, re.M)
    commands = ["demo", "test", "slow", "studies", "processors", "minima", "sanitize"]
    assert set(named) <= set(offered)
    assert offered == [*commands, "races", "lint", "build", "docs"]


def test_dev_py_names_an_unknown_command():
    done = subprocess.run(
        [sys.executable, "dev.py", "tset"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "dev.py: unknown command 'tset'; choose from demo, test, slow, studies, "
        "processors, minima, sanitize, races, lint, build, docs.\n"
    )


def test_dev_py_can_be_read_by_an_old_python():
    # Only then can it say in one line that the Python is too old.
    source = (ROOT / "dev.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 6))
    assert "from __future__ import annotations" not in source


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files_lead_somewhere(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target


def test_changelog_has_this_version(changelog):
    (heading,) = re.findall(
        rf"^## .*\b{re.escape(version('bayesieve'))}\b", changelog, re.M
    )
    assert changelog.index(heading) < changelog.index("###")


def test_changelog_groups_exist(changelog):
    for group in re.findall(r"^### (bayesieve\S*)", changelog, re.M):
        assert importlib.util.find_spec(group) is not None, group


def test_citation_has_this_version():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {version('bayesieve')}\n" in citation


def test_the_stub_of_the_compiled_core_is_up_to_date(tmp_path):
    pytest.importorskip("nanobind", reason="nanobind is not installed")
    made = tmp_path / "_core.pyi"
    command = ["nanobind.stubgen", "-q", "-m", "bayesieve._core", "-o", str(made)]
    subprocess.run([sys.executable, "-m", *command], check=True)
    kept = ROOT / "src" / "bayesieve" / "_core.pyi"
    assert made.read_text() == kept.read_text(), (
        "run: python -m nanobind.stubgen -m bayesieve._core -o src/bayesieve/_core.pyi"
    )


def test_minima_are_the_floors_of_pyproject():
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    dev = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(dev)
    extras = {"e": ["b>=2", "x[f]"], "f": ["a>=1.0"], "test": ["pytest>=8"]}
    project = {"name": "x", "dependencies": ["a>=1.0"], "optional-dependencies": extras}
    assert dev.minimum_versions(project) == ["a==1.0", "b==2"]
    for wrong, told in (("a>=1.1", "one oldest version"), ("c", "name>=version")):
        with pytest.raises(dev.DevError, match=told):
            dev.minimum_versions({**project, "optional-dependencies": {"e": [wrong]}})
    names = [pin.split("==")[0] for pin in dev.minimum_versions(dev.read_project())]
    assert {"numpy", "scipy", "scikit-learn", "duckdb", "pyarrow"} <= set(names)
