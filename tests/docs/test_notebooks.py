"""The notebooks run, cell by cell, and show what they say; no Jupyter is needed."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def cells_of(path, kind="code"):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    return [cell for cell in notebook["cells"] if cell["cell_type"] == kind]


def run_cell(source, names, where):
    """Run a cell as Jupyter does; return the value of its last expression."""
    tree = ast.parse(source, where)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr):
        exec(compile(tree, where, "exec"), names)
        return None
    before = ast.Module(tree.body[:-1], [])
    exec(compile(before, where, "exec"), names)
    return eval(compile(ast.Expression(last.value), where, "eval"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_run(path, quiet_pictures, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pandas", reason="the notebooks have tables: it is missing")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    shown = []
    for number, cell in enumerate(cells_of(path)):
        value = run_cell("".join(cell["source"]), names, f"{path.name}[{number}]")
        page = value._repr_html_() if hasattr(value, "_repr_html_") else None
        if page is not None:  # a picture is shown as an image
            assert page.startswith("<")
            assert page.count("<div") == page.count("</div>")
            shown.append(page)
        else:
            repr(value)
    assert shown
    if path.stem == "pipelines":
        words, capitals, *_ = shown
        assert "claim" in words
        assert "CLAIM" in capitals
        assert "length" in shown[-1]
        assert "x" + str(names["model"].support_indices_[0]) in capsys.readouterr().out


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_store_no_outputs(path):
    for cell in cells_of(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None
    assert cells_of(path, "markdown")[0]["source"][0].startswith("# ")


def test_there_are_notebooks():
    assert NOTEBOOKS
