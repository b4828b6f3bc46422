"""The wheel has all that it needs, and works in an environment where nothing else of the repository is."""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.error
import urllib.request
import zipfile
from contextlib import contextmanager
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

import pttt_ooc
from pttt_ooc.cli.workflow_copy import FILES
from pttt_ooc.compiled_code import user_cache
from pttt_ooc.pipeline.stages.compilation import ensure_compiled, version
from tests.kits.patience import PATIENCE, wait_until

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
GAME = "mini-2x3k2-abrupt"
# The value is given, as the course would solve the game to know it.
COURSE = "game: mini-2x2k2-abrupt\ngame_value: [0.6666, 0.6667]\n"


def run(command, cwd, **options):
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=PATIENCE, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built from a copy of what git would hand on, so that nothing lying around gets in."""
    directory = tmp_path_factory.mktemp("wheel")
    source = directory / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE", "pttt_ooc", *FILES):
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", directory], source)
    [made] = directory.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def alone(wheel, tmp_path_factory):
    """The `bin` of a new environment with the wheel, all that its commands need, and nothing else."""
    environment = tmp_path_factory.mktemp("alone") / "env"
    uv = (BIN / "uv").exists()
    run([sys.executable, "-m", "venv", *(["--without-pip"] if uv else []), environment], environment.parent)
    install(uv, environment, "--require-hashes", "-r", ROOT / "envs/requirements.txt")
    install(uv, environment, "--no-deps", wheel)
    return environment / "bin"


def install(uv, environment, *what):
    """As the Makefile does: by uv, if it is there, from its cache or else from the package index; otherwise by pip."""
    python = environment / "bin/python"
    if not uv:
        run([python, "-m", "pip", "install", "--quiet", *what], environment)
        return
    command = [BIN / "uv", "pip", "install", "--quiet", "--python", python, *what]
    if subprocess.run([*map(str, command), "--offline"], capture_output=True, timeout=PATIENCE).returncode != 0:
        run(command, environment)


@pytest.fixture
def place(tmp_path):
    """A directory from which nothing of the repository can be seen, and the environment variables to run there."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA", "VIRTUAL"))}
    return {"cwd": tmp_path, "env": kept | {"MPLCONFIGDIR": str(tmp_path / "matplotlib")}}


# ---------------------------------------------------------------------------------------------
# What is in it


def test_the_wheel_has_every_file_of_the_package(wheel):
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
        metadata = archive.read(next(n for n in archive.namelist() if n.endswith("METADATA"))).decode()
    files = {
        file.relative_to(ROOT) for name in ("pttt_ooc", *FILES) for file in [ROOT / name, *(ROOT / name).rglob("*")]
    }
    files = [file for file in files if (ROOT / file).is_file() and "__pycache__" not in file.parts]
    own = {str(file) for file in files if file.parts[0] == "pttt_ooc"}
    assert found == own | {f"pttt_ooc/workflow_files/{file}" for file in files if file.parts[0] != "pttt_ooc"}
    assert {".py", ".typed", ".html", ".j2", ".css", ".js", ".svg"} <= {file.suffix or file.name[5:] for file in files}
    assert "Description-Content-Type: text/markdown" in metadata and "# Phantom Tic-Tac-Toe" in metadata


def imports_of(file):
    """The first parts of the names of the modules that a file imports, wherever it does so."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.partition(".")[0]


@pytest.mark.slow
def test_all_that_is_imported_is_named():
    def names(lines):
        return {re.split(r"[<>=\[;]", line)[0].lower().replace("_", "-") for line in lines}

    base, extras = names(PROJECT["dependencies"]), PROJECT["optional-dependencies"]
    distributions, missing = packages_distributions(), set()
    for file in (ROOT / "pttt_ooc").rglob("*.py"):
        # An extra bears the name of the room, or of the module, that needs it; rooms with pages need the course's too.
        parts = file.relative_to(ROOT / "pttt_ooc").with_suffix("").parts
        served = {"site", "smbc", "pages", "course", "play"} & set(parts)
        # Linear programs are of wings that have an extra for them.
        programs = {"linear_program"} & set(parts)
        exact = parts[0] == "exact" or parts[-1] == "highs_solver"
        wanted = {*parts, *(("course",) if served else ()), *(("learners",) if programs else ())}
        # The program that trains networks is run by hand, with the extra of learners.
        wanted |= {"deep"} if parts[-1] == "ultimate_training" else set()
        wanted |= {"exact"} if exact else {"workflow"} if "stages" in parts else set()
        named = base.union(*(names(extras.get(extra, ())) for extra in wanted))
        used = set(imports_of(file)) - set(sys.stdlib_module_names) - {"pttt_ooc"}
        for module in used & set(distributions):
            providers = {name.lower().replace("_", "-") for name in distributions[module]}
            if not providers & named:
                missing.add((str(file.relative_to(ROOT)), module))
    assert not missing, "pyproject.toml does not name what these import"
    assert "snakemake" in names(extras["workflow"]) - base


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["cff-version"], citation["type"]) == ("1.2.0", "software")
    assert (citation["version"], citation["license"]) == (pttt_ooc.__version__, PROJECT["license"])
    assert citation["authors"] == PROJECT["authors"]


def versions_in(lock):
    return set(re.findall(r"^([\w.-]+==[^ ;]+)", (ROOT / f"envs/{lock}.txt").read_text(), re.MULTILINE))


def test_an_environment_that_can_solve_grows_and_never_changes():
    """What `make solve` installs has the versions of the whole lock, and leaves out large libraries of other parts."""
    assert versions_in("requirements-solve") < versions_in("requirements") <= versions_in("requirements-dev")
    left_out = {line.partition("==")[0] for line in versions_in("requirements") - versions_in("requirements-solve")}
    assert {"pandas", "scikit-learn", "statsmodels", "cryptography"} <= left_out
    assert not {"snakemake", "highspy", "fastapi"} & left_out


def test_what_make_solve_installs_depends_on_its_targets():
    def lock_of(*arguments):
        command = ["make", "-n", "-B", "-s", "solve", *arguments]
        told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return set(re.findall(r"-r envs/(requirements(?:-solve)?)\.txt", told))

    assert lock_of() == lock_of("TARGETS=smbc") == {"requirements-solve"}
    assert lock_of("TARGETS=arena") == lock_of("TARGETS=extreme") == {"requirements-solve", "requirements"}


def test_without_snakemake_make_says_so(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv").mkdir()
    command = ["make", "-o", ".venv/.solve", "solve"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and done.stderr.startswith("The workflow needs Snakemake, which is not in .venv: ")


def test_a_solve_writes_byte_code_wherever_it_runs(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    snakemake = tmp_path / ".venv/bin/snakemake"
    snakemake.write_text('#!/bin/sh\necho "told: [$PYTHONDONTWRITEBYTECODE]"\n', encoding="utf-8")
    snakemake.chmod(0o755)
    command, environment = ["make", "-s", "-o", ".venv/.solve", "solve"], {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    run_there = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, "timeout": PATIENCE}
    assert "told: []" in subprocess.run(command, **run_there).stdout.splitlines()


@pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")
def test_make_compiles_what_it_installs_and_the_package_but_no_tests(tmp_path):
    for part in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / part, tmp_path)
    shutil.copytree(ROOT / "envs", tmp_path / "envs")
    environment = tmp_path / ".venv"
    run([sys.executable, "-m", "venv", "--without-pip", environment], tmp_path)
    [packages] = environment.glob("lib/python3*/site-packages")
    installer = f"""#!/bin/sh
        mkdir -p {packages}/some/tests
        echo 'number = 1' | tee {packages}/some/module.py > {packages}/some/tests/test_module.py
        echo 'no Python' > {packages}/some/template.py
    """
    for name, text in {"bin/uv": installer, "bin/pip": "", ".uv": ""}.items():
        (environment / name).write_text(text, encoding="utf-8")
        (environment / name).chmod(0o755)
    (tmp_path / "pttt_ooc").mkdir()
    (tmp_path / "pttt_ooc/own.py").write_text("number = 1", encoding="utf-8")
    run(["make", "--quiet", ".venv/.solve"], tmp_path)
    assert not list(tmp_path.rglob("some/**/*.pyc"))  # a solve compiles what it imports
    run(["make", "--quiet", ".venv/.runtime"], tmp_path)
    for place, wanted in ((packages / "some", "module"), (tmp_path / "pttt_ooc", "own")):
        assert [file.name.partition(".")[0] for file in place.rglob("*.pyc")] == [wanted]


# ---------------------------------------------------------------------------------------------
# What it does alone


def give_kernels(python, place):
    """Compile all kernels where an installed package of the same sources finds them: in the user's cache."""
    ensure_compiled()
    place["env"]["NUMBA_CACHE_DIR"] = str(user_cache())
    code = "from pttt_ooc.pipeline.stages import compilation; print(compilation.version())"
    assert run([python, "-P", "-c", code], "/", env=place["env"]).stdout.strip() == version()


@contextmanager
def served(pttt, place):
    """A course; its address."""
    (place["cwd"] / "course").mkdir()
    (place["cwd"] / "course/settings.yaml").write_text(COURSE)
    command = [pttt, "course", "serve", "--data", "course", "--port", "0"]
    with open(place["cwd"] / "log", "w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, **place)
    try:
        yield re.search(r"http://\S+:\d+", process.stdout.readline())[0]
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def status(url):
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def works_alone(bin_, place):
    """Information on games, a solution, its evaluation, the course; returns what was said of the work."""
    pttt = bin_ / "pttt"
    assert GAME in run([pttt, "info"], **place).stdout
    solved = run([pttt, "solve", "--game", GAME, "--max-iterations", "30", "--threads", "1"], **place)
    data = place["cwd"] / "data" / GAME
    assert json.loads((data / "full/convergence.jsonl").read_text().splitlines()[-1])["iteration"] == 30
    files = [data / "full", data / "full"]
    evaluated = run([pttt, "evaluate", *files, "--json", "--threads", "1"], **place)
    assert json.loads(evaluated.stdout)["value"] == pytest.approx(0.765, abs=0.01)
    with served(pttt, place) as url:
        wait_until(lambda: status(f"{url}/healthz") == 200, told=lambda: (place["cwd"] / "log").read_text())
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            used = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', answer.read().decode()))
        assert {Path(path.partition("?")[0]).suffix for path in used} == {".css", ".js", ".svg"}
        assert [status(url + path) for path in (*used, "/api/openapi.json")] == [200] * (len(used) + 1)
    run([pttt, "lab", "workflow", "games"], **place)
    games = {**place, "cwd": place["cwd"] / "games"}
    run([bin_ / "snakemake", "--cores", "1", "--config", f"game={GAME}"], **games)
    assert run([pttt, "verify-run", games["cwd"] / "data" / GAME / "full"], **place).stdout
    return solved.stderr + evaluated.stderr


@pytest.mark.long
def test_the_wheel_works_alone(alone, place):
    """With kernels that are compiled already."""
    give_kernels(alone / "python", place)
    nothing = "import importlib.util as u; print([m for m in ('pytest', 'ruff') if u.find_spec(m)])"
    assert run([alone / "python", "-P", "-c", nothing], **place).stdout == "[]\n"
    assert "Compiled" not in works_alone(alone, place)


@pytest.mark.full
def test_the_wheel_compiles_its_kernels(alone, place):
    """As the first one who installs it: nothing is compiled yet."""
    place["env"]["XDG_CACHE_HOME"] = str(place["cwd"] / "cache")
    assert "Compiled" in works_alone(alone, place)


@pytest.mark.full
def test_the_wheel_without_extras_scores_an_agent(wheel, place, tmp_path):
    """As the first one who installs it, with nothing but what it needs."""
    environment = tmp_path / "env"
    run([sys.executable, "-m", "venv", environment], tmp_path)
    install(False, environment, wheel)
    place["env"]["XDG_CACHE_HOME"] = str(tmp_path / "cache")
    (tmp_path / "agent.py").write_text(
        "def observe(infostates, legal):\n    return legal / legal.sum(axis=1)[:, None]\n"
    )
    done = run([environment / "bin/pttt", "lab", "score", "agent.py:observe", "--game", GAME], **place)
    assert "exploitability 0.333333" in done.stdout and "Compiled" in done.stderr
