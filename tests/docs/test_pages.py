"""The documentation tells the truth: its code runs, its outputs are real."""

from __future__ import annotations

import ast
import doctest
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import HANGS

import bayesieve

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if not {"gallery", "api"} & set(path.relative_to(DOCS).parts)
)
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```$", re.M | re.S)


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def run_page(path):
    """Run the blocks of a page one after the other, in one namespace."""
    text = path.read_text(encoding="utf-8")
    names = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        kind, code = block.groups()
        if kind == "python":
            exec(compile(code, f"{path.name}:{line}", "exec"), names)
            continue
        test = doctest.DocTestParser().get_doctest(
            code, names, path.name, str(path), line
        )
        assert test.examples, f"{path.name}:{line}: a block without >>>"
        runner.run(test, clear_globs=False)
        names = test.globs
    return runner.summarize(verbose=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if BLOCK.search(path.read_text("utf-8"))],
    ids=name_of,
)
def test_code_of_pages(path, quiet_pictures):
    for module in ("pandas", "duckdb", "pyarrow", "anndata", "h5py"):
        pytest.importorskip(module, reason=f"the pages use {module}, which is missing")
    assert run_page(path).failed == 0  # doctest has printed what differs


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_examples_run(path, quiet_pictures, capsys):
    for module in ("pandas", "duckdb", "pyarrow"):
        pytest.importorskip(module, reason=f"the gallery uses {module}")
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_examples_are_short_and_begin_with_a_title(path):
    source = path.read_text(encoding="utf-8")
    title, underline = ast.get_docstring(ast.parse(source)).splitlines()[:2]
    assert underline == "=" * len(title)
    assert len(source.splitlines()) < 60


def public_names():
    for name in bayesieve.__all__:
        value = getattr(bayesieve, name)
        if not hasattr(value, "__path__") and not hasattr(value, "__file__"):
            yield name
    for module in ("baselines", "datasets", "exceptions", "inspection", "metrics"):
        home = __import__(f"bayesieve.{module}", fromlist=["__all__"])
        for name in home.__all__:
            short = name in bayesieve.__all__
            yield name if short else f"{module}.{name}"


@pytest.mark.parametrize("name", sorted(set(public_names())))
def test_every_public_name_is_in_the_reference(name):
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "api.md").read_text("utf-8"), re.M)
    assert name in listed


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for path in PAGES:
        for block in re.findall(
            r"^```\{toctree\}\n(.*?)^```", path.read_text("utf-8"), re.M | re.S
        ):
            for line in block.splitlines():
                if line and not line.startswith(":"):
                    listed.add((path.parent / f"{line}.md").resolve())
    assert {path for path in PAGES if path.name != "index.md"} <= listed


@pytest.mark.slow
def test_documentation_builds_without_a_warning(tmp_path):
    for module in ("sphinx", "numpydoc", "myst_parser", "sphinx_gallery", "furo"):
        pytest.importorskip(
            module, reason=f"{module} is missing (it comes with the 'docs' extra)"
        )
    made = shutil.ignore_patterns("gallery", "api")
    shutil.copytree(DOCS, tmp_path / "docs", ignore=made)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "CHANGELOG.md", tmp_path)
    results = Path("benchmarks", "studies", "results")  # the pages show some of them
    raw = shutil.ignore_patterns("*.json.xz")
    shutil.copytree(ROOT / results, tmp_path / results, ignore=raw)
    # The examples are not run here: they have a test of their own.
    options = ["-W", "--keep-going", "-q", "-D", "plot_gallery=0"]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, "docs", "html"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = list((tmp_path / "html").rglob("*.html"))
    assert len(pages) > 80
    for page in pages:  # they are read from a disk, without a network
        text = page.read_text(encoding="utf-8")
        assert not re.search(r"<(script|link|img)[^>]+(src|href)=.https?://", text)
