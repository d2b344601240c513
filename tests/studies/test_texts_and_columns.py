"""The study of texts and columns: its table of packages, and what models reach."""

from __future__ import annotations

import numpy as np
import pytest
from tests.studies.study_modules import load

INDEX = """Package: hello
Maintainer: Some One <one@debian.org>
Installed-Size: 280
Depends: libc6 (>= 2.34), libb
Description: example package
 with a longer description
Section: devel
Priority: optional

Package: bare
Section: games
"""


@pytest.fixture(scope="module")
def study():
    return load("texts_and_columns")


@pytest.fixture(scope="module")
def packages():
    found = load("debian_packages").debian_packages()
    if found is None:
        pytest.skip("no index of Debian's packages on this system (apt-get update)")
    return found


def test_packages_become_rows(monkeypatch):
    module = load("debian_packages")
    monkeypatch.setattr(module, "_FEW", 1)
    frame, section = module.table_of(module.paragraphs(INDEX.splitlines()))
    assert section.tolist() == ["devel", "games"]
    assert frame.iloc[0].tolist() == [
        "example package",
        "optional",
        280.0,
        2.0,
        "debian.org",
    ]
    assert frame["description"].tolist() == ["example package", ""]
    assert frame["installed_size"].isna().tolist() == [False, True]
    assert frame["n_dependencies"].tolist() == [2.0, 0.0]
    assert frame["maintainer_domain"].isna().tolist() == [False, True]


def test_together_beats_either_on_packages(study, packages):
    frame, section = packages
    few = np.random.default_rng(0).permutation(len(frame))[:3000]
    frame, y = frame.iloc[few], np.unique(section[few], return_inverse=True)[1]
    train, test = np.arange(2250), np.arange(2250, 3000)
    losses = {
        method: study.fitted(method, frame, "description", y, train, test)[1]
        for method in ("together", "text", "columns")
    }
    assert losses["together"] < losses["text"] - 0.05
    assert losses["together"] < losses["columns"] - 0.5


def test_columns_that_say_nothing_cost_nothing_on_reviews(study, real_data):
    frame = real_data("amazon_mds")
    few = np.random.default_rng(0).permutation(len(frame))[:2000]
    frame, y = frame.iloc[few], frame["label"].to_numpy()[few]
    frame = frame[["text", "domain"]]
    train, test = np.arange(1500), np.arange(1500, 2000)
    together, text = (
        study.fitted(method, frame, "text", y, train, test)[1]
        for method in ("together", "text")
    )
    assert together <= text + 0.005


def test_shuffled_columns_are_shuffled_together(study, packages):
    plain, section, _ = study.read("debian", 1000)
    noise, same, _ = study.read("noise columns", 1000)
    np.testing.assert_array_equal(section, same)
    assert noise["description"].equals(plain["description"])
    assert not noise["installed_size"].equals(plain["installed_size"])
    text, _, _ = study.read("noise text", 1000)
    assert not text["description"].equals(plain["description"])
    assert sorted(text["description"]) == sorted(plain["description"])
