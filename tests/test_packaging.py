"""Wheels, the conda recipe, the oldest versions: they say what pyproject.toml says."""

from __future__ import annotations

import fnmatch
import importlib.util
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

from bayesieve import _core

ROOT = Path(__file__).resolve().parents[1]
RECIPE = ROOT / "recipe" / "recipe.yaml"
#: What conda calls packages that PyPI calls otherwise, or gives without their programs.
CONDA_NAMES = {
    "duckdb": "python-duckdb",
    "matplotlib": "matplotlib-base",
    "dask": "dask-core",
}


@pytest.fixture(scope="module")
def settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project(settings):
    return settings["project"]


@pytest.fixture(scope="module")
def dev():
    spec = importlib.util.spec_from_file_location("dev", ROOT / "dev.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pythons(project):
    """The versions that the classifiers name: 3.11, 3.12 and so on."""
    found = [
        re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", classifier)
        for classifier in project["classifiers"]
    ]
    return [match[1] for match in found if match]


# ---------------------------------------------------------------------------- wheels


def test_wheels_are_built_for_every_python(settings, project):
    named = pythons(project)
    assert project["requires-python"] == f">={named[0]}"
    tags = [f"cp{name.replace('.', '')}" for name in named]
    built = settings["tool"]["cibuildwheel"]["build"]
    assert [tag for tag in built if not tag.endswith("t-*")] == [f"{t}-*" for t in tags]


def test_wheels_are_tried_on_every_platform(settings, project):
    skipped = settings["tool"]["cibuildwheel"]["test-skip"]
    platforms = ("manylinux_x86_64", "manylinux_aarch64", "musllinux_x86_64")
    for platform in (*platforms, "macosx_x86_64", "macosx_arm64", "win_amd64"):
        tried = [
            name
            for name in settings["tool"]["cibuildwheel"]["build"]
            if not any(
                fnmatch.fnmatch(name.replace("*", platform), pattern)
                for pattern in skipped
            )
        ]
        assert len(tried) == (1 if "musl" in platform else len(pythons(project)) + 1)


def test_the_core_is_built_for_the_stable_abi_where_there_is_one(settings):
    assert settings["tool"]["scikit-build"]["wheel"]["py-api"] == "cp312"
    name = Path(_core.__file__).name
    free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
    stable = sys.version_info >= (3, 12) and not free_threaded
    if sys.platform == "win32":
        assert (name == "_core.pyd") == stable
    else:
        assert name.endswith(".abi3.so") == stable


# ---------------------------------------------------------------------- conda recipe


@pytest.fixture(scope="module")
def recipe():
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(RECIPE.read_text(encoding="utf-8"))


def floors(requirements):
    """{name: floor} of requirements such as "numpy>=2.0"; others are left out."""
    found = (re.fullmatch(r"([\w.-]+) ?>=([\w.]+)", line) for line in requirements)
    return {match[1]: match[2] for match in found if match}


def test_the_recipe_is_of_this_version(recipe, project):
    assert recipe["context"]["version"] == project["version"] == version("bayesieve")
    assert recipe["package"]["name"] == project["name"]
    assert recipe["build"]["skip"] == f'match(python, "<{pythons(project)[0]}")'


def test_the_recipe_describes_the_project(recipe, project):
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license"] == project["license"]
    assert [recipe["about"]["license_file"]] == project["license-files"]
    (entry,) = recipe["build"]["python"]["entry_points"]
    assert entry.split(" = ") == list(*project["scripts"].items())


def test_the_recipe_asks_for_the_same_versions(recipe, project, settings, dev):
    asked = recipe["requirements"]
    assert "python" in asked["run"]
    assert "python" in asked["host"]
    assert floors(asked["run"]) == floors(project["dependencies"])
    assert floors(asked["host"]) == floors(settings["build-system"]["requires"])
    minima = dict(pin.split("==") for pin in dev.minimum_versions(project))
    extras = {
        CONDA_NAMES.get(name, name): floor
        for name, floor in minima.items()
        if name not in floors(project["dependencies"])
    }
    assert floors(asked["run_constraints"]) == extras


def test_the_recipe_is_one_that_rattler_build_reads():
    rattler_build = pytest.importorskip("rattler_build")
    compilers = {"cxx_compiler": ["gxx"], "c_stdlib": ["sysroot"]}
    variants = rattler_build.VariantConfig({"python": ["3.12.*"], **compilers})
    (made,) = rattler_build.Stage0Recipe.from_file(str(RECIPE)).render(variants)
    assert made.recipe.package.version == version("bayesieve")
    needs = made.recipe.requirements.to_dict()
    assert {"gxx_linux-64", "sysroot_linux-64"} <= set(needs["build"]) or (
        sys.platform != "linux"
    )
    assert "numpy >=2.0" in needs["run"]


# ------------------------------------------------------------------- oldest versions


def test_the_oldest_version_of_every_extra_is_tried(project, dev):
    """`dev.py minima` installs the extra `test`, which therefore must have them all."""
    extras = project["optional-dependencies"]

    def packages(name):
        found = set()
        for requirement in extras[name]:
            nested = re.fullmatch(rf"{project['name']}\[([\w,]+)\]", requirement)
            if nested:
                found.update(*(packages(part) for part in nested[1].split(",")))
            else:
                found.add(re.match(r"[\w.-]+", requirement)[0])
        return found

    pinned = {pin.split("==")[0] for pin in dev.minimum_versions(project)}
    needed = pinned - set(floors(project["dependencies"]))
    # 500 MB, and of use only with Java: dev.py installs it then.
    assert needed - packages("test") == {"pyspark"}


def test_what_is_installed_is_compared_with_the_oldest(dev, tmp_path):
    folder = tmp_path / "venv"
    (folder / "bin").mkdir(parents=True)
    program = Path(dev.python_of(folder))
    if sys.platform == "win32":
        pytest.skip("needs a program that is a script")
    program.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    here = version("scikit-learn")
    dev.check_installed(folder, [f"Scikit_Learn=={here}"])
    dev.check_installed(folder, ["not-there==1"], may_lack=("not-there",))
    with pytest.raises(dev.DevError, match=f"oldest numpy is 0.1, and {np_version()}"):
        dev.check_installed(folder, ["numpy==0.1"])
    with pytest.raises(dev.DevError, match="oldest not-there is 1, and none is"):
        dev.check_installed(folder, ["not-there==1"])


def np_version():
    return re.escape(version("numpy"))


def test_zeros_at_the_end_of_a_version_do_not_count(dev):
    assert dev.numbers("2") == dev.numbers("2.0") == dev.numbers("2.0.0")
    assert dev.numbers("2.0.1") != dev.numbers("2.0")
    assert dev.numbers("20.0") != dev.numbers("2")


# ------------------------------------------------------------------------- dev.py build


def test_a_wheel_is_tried_where_no_compiler_is_found(dev, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "g++")
    environment = dev.without_compiler(tmp_path)
    assert "CXX" not in environment
    assert environment["PATH"].startswith(str(Path(dev.python_of(tmp_path)).parent))
    for name in ("g++", "c++", "gcc", "cc", "clang", "cmake", "ninja"):
        assert shutil.which(name, path=environment["PATH"]) is None
    done = subprocess.run(
        [sys.executable, "-c", "print('runs')"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "runs"
