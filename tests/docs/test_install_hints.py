"""What is said about installing is true of pyproject.toml, everywhere."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from bayesieve.utils._optional import EXTRAS, install_hint, optional_module

ROOT = Path(__file__).resolve().parents[2]
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def packages(extra):
    return [re.match(r"[\w-]+", need).group() for need in DECLARED[extra]]


@pytest.mark.parametrize("extra", EXTRAS)
def test_hints_name_the_packages_of_their_extra(extra):
    assert list(EXTRAS[extra]) == packages(extra)
    assert install_hint(extra) == "Hint: pip install " + " ".join(packages(extra))


def test_a_missing_package_is_one_sentence_and_a_hint():
    with pytest.raises(ModuleNotFoundError) as caught:
        optional_module("no_such_package.part", purpose="Drawing", extra="plot")
    assert str(caught.value) == (
        "Drawing needs no_such_package, which is not installed. "
        "Hint: pip install matplotlib"
    )


@pytest.mark.parametrize("extra", DECLARED)
def test_the_first_page_lists_every_extra_with_its_packages(extra):
    page = (ROOT / "docs" / "index.md").read_text("utf-8")
    rows = [line.split("|")[1:] for line in page.splitlines() if line.startswith("|")]
    [row] = [row for row in rows if f"`{extra}`" in row[0]]
    if extra in ("test", "docs", "bench"):
        return
    named = [name.strip(" `") for name in row[1].split(",")]
    if extra == "all":
        [inner] = re.findall(r"\[(.*)\]", DECLARED["all"][0])
        assert sorted(named) == sorted(inner.split(","))
    else:
        assert named == packages(extra)


def test_nobody_is_told_to_install_bayesieve_by_name():
    # It is in no package index: `pip install bayesieve` would fail, or worse.
    places = [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*")]
    places += ROOT.glob("src/bayesieve/**/*.py")
    told = re.compile(r"""pip install\s+(--upgrade\s+)?["']*bayesieve""")
    wrong = [p.name for p in places if p.is_file() and told.search(p.read_text())]
    assert wrong == []
