"""Compiled code: none of another version of the sources is ever used, and kernels take only what its name covers."""

import ast
import builtins
import fcntl
import os
import signal
import subprocess
import sys
import threading
import types
from pathlib import Path

import psutil
import pytest

from pttt_ooc import compiler, jit
from pttt_ooc.arena import compiled as arena
from pttt_ooc.disk import locks
from pttt_ooc.errors import PtttError
from pttt_ooc.stages import compilation as kernels
from pttt_ooc.stages.provenance import PACKAGE, source_file
from pttt_ooc.sweep import gradient


def modules():
    return {
        str(file.relative_to(PACKAGE).with_suffix("")): ast.parse(file.read_text(encoding="utf-8"))
        for file in PACKAGE.rglob("*.py")
    }


MODULES = modules()
WINGS = ["learners/exact/kernels", "learners/sampled/kernels", "smbc/kernels"]
"""The modules of wings that have kernels, one for each wing."""
ARENA = sorted(name for name in MODULES if name.startswith("arena/kernels/"))
"""The modules of the arena's kernels, which have a digest of their own."""


def imports(tree):
    """Where each name that a module imports comes from: a module of the package, or an empty text."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            home = (node.module or "").removeprefix("pttt_ooc").lstrip(".").replace(".", "/")
            inside = node.level or (node.module or "").startswith("pttt_ooc")
            for alias in node.names:
                inner = f"{home}/{alias.name}".lstrip("/")
                found[alias.asname or alias.name] = (inner if source_file(inner).is_file() else home) if inside else ""
        elif isinstance(node, ast.Import):
            for alias in node.names:
                inside = alias.name.startswith("pttt_ooc")
                found[alias.asname or alias.name.split(".")[0]] = alias.name[9:].replace(".", "/") if inside else ""
    return found


def loaded(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - set(dir(builtins))


def is_compiled(function):
    """Whether a function is a kernel, or one of those that write the compiler's instructions."""
    return any(
        loaded(decorator) & {"kernel", "bare_kernel", "piece", "intrinsic", "overload"}
        for decorator in function.decorator_list
    )


def made_of(tree):
    """All names of a module that its kernels are made of, directly or through other names of the module."""
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    waiting = [name for function in functions if is_compiled(function) for name in loaded(function)]
    homes = {n.name: n for n in tree.body if isinstance(n, ast.FunctionDef | ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                homes |= dict.fromkeys(loaded(target), node)
    done = set()
    while waiting:
        name = waiting.pop()
        if name not in done:
            done.add(name)
            waiting += loaded(homes[name]) if name in homes else []
    return done


def strangers(tree):
    """What kernels are made of that comes from a module of the package whose text is not in the digest."""
    homes = imports(tree)
    return {f"{homes[name]}.{name}" for name in made_of(tree) if homes.get(name) and homes[name] not in jit.SOURCES}


@pytest.mark.parametrize("name", jit.SOURCES)
def test_kernels_are_made_of_nothing_that_the_digest_leaves_out(name):
    assert not strangers(MODULES[name])


def test_strangers_are_found():
    text = "from pttt_ooc.rules.game import N\nfrom pttt_ooc.structure.timing import WORD\n"
    text += "M = N + WORD\n@kernel\ndef f(): return M"
    assert strangers(ast.parse(text)) == {"rules/game.N"}
    text = "from pttt_ooc.rules import game as g\n@kernel\ndef f(): return g.N"
    assert strangers(ast.parse(text)) == {"rules/game.g"}
    assert not strangers(ast.parse("from pttt_ooc.rules.game import N\ndef f(): return N"))


def test_the_digest_covers_all_kernels_and_the_tuples_that_they_take():
    for name, tree in MODULES.items():
        compiled = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and is_compiled(n)]
        tuples = [
            n.name for n in tree.body if isinstance(n, ast.ClassDef) and "NamedTuple" in map(ast.unparse, n.bases)
        ]
        assert name in jit.SOURCES or name in WINGS + ARENA or not compiled + tuples, name


@pytest.mark.parametrize("name", WINGS)
def test_the_kernels_of_a_wing_are_made_of_their_own_module_alone(name):
    """Numba's own stamp of that file is then enough, and `make solve` of the main game compiles none of them."""
    homes = imports(MODULES[name])
    assert {homes[part] for part in made_of(MODULES[name]) if homes.get(part)} <= {"jit"}


@pytest.mark.parametrize("name", ARENA)
def test_kernels_of_the_arena_are_made_of_what_their_digest_covers(name):
    homes = imports(MODULES[name])
    inside = {homes[part] for part in made_of(MODULES[name]) if homes.get(part)}
    covered = arena.sources("pttt_ooc." + name.replace("/", "."))
    assert {source_file(home) for home in inside} <= covered


def test_the_digest_of_the_arenas_kernels_follows_imports_and_factories(tmp_path, monkeypatch):
    room = tmp_path / "arena"
    room.mkdir()
    (room / "a.py").write_text("from pttt_ooc.arena.b import (\n    one,\n    two,\n)\n")
    (room / "b.py").write_text("    from pttt_ooc.arena import c\nfrom pttt_ooc.disk import files\n")
    (room / "c.py").write_text("import numpy\n")
    monkeypatch.setattr(arena, "_ROOT", tmp_path)
    assert {file.stem for file in arena.sources("pttt_ooc.arena.a")} == {"a", "b", "c"}

    def factory(rules):
        return lambda: rules

    def version():
        function = factory(types.ModuleType("pttt_ooc.arena.a"))
        function.__module__ = "pttt_ooc.arena.elsewhere"
        return arena.digest(function)

    before = version()
    (room / "c.py").write_text("import zarr\n")
    assert version() != before


def test_all_kernels_are_kept_by_version():
    for name, tree in MODULES.items():
        if name != "compiler":  # numba's own decorators know nothing of versions
            attributes = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and ast.unparse(n) != "jax.jit"]
            assert not {n.attr for n in attributes} & {"njit", "jit", "vectorize"}, name
            assert not imports(tree).keys() & {"njit", "vectorize", "guvectorize", "cfunc"}, name


TWO = (
    "from pttt_ooc.jit import kernel\nfrom pttt_ooc.structure.orders import one\n@kernel\ndef two(): return one() + 1\n"
)
RUN = "from pttt_ooc.products.infosets import two; print(two(), len(two.stats.cache_hits))"


@pytest.mark.slow
def test_compiled_code_of_another_version_is_not_used_and_not_lost(tmp_path):
    package = tmp_path / "pttt_ooc"
    for name in ("__init__", *jit.SOURCES):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / f"{name}.py").touch()
    for name in ("compiler", "jit"):
        (package / f"{name}.py").write_text(source_file(name).read_text())
    (package / "products" / "infosets.py").write_text(TWO)

    def run(one):
        source = f"from pttt_ooc.jit import kernel\n@kernel\ndef one(): return {one}\n"
        (package / "structure" / "orders.py").write_text(source)
        return subprocess.check_output(command, cwd=tmp_path, env=environment, text=True).split()

    command = [sys.executable, "-B", "-c", RUN]  # Python's own cache looks at seconds and sizes only
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "NUMBA_DISABLE_JIT")}
    environment |= {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert [run(1), run(2), run(1)] == [["2", "0"], ["3", "0"], ["2", "1"]]


WING = "from pttt_ooc.jit import kernel\n@kernel\ndef two(): return {}\n"
RUN_WING = "from pttt_ooc.wing import two; print(two(), len(two.stats.cache_hits))"


class Clone:
    """A package with one kernel, outside of those whose sources the digest is of."""

    def __init__(self, place, result, cache):
        self.place, self.package = place, place / "pttt_ooc"
        for name in ("__init__", *jit.SOURCES):
            (self.package / name).parent.mkdir(parents=True, exist_ok=True)
            (self.package / f"{name}.py").touch()
        for name in ("compiler", "jit"):
            (self.package / f"{name}.py").write_text(source_file(name).read_text())
        (self.package / "wing.py").write_text(WING.format(result))
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "NUMBA"))}
        self.environment = kept | {"PYTHONPATH": str(place), "XDG_CACHE_HOME": str(cache)}

    def run(self):
        """What the kernel gives, and how often its code was found in the cache."""
        command = [sys.executable, "-B", "-c", RUN_WING]
        return subprocess.check_output(command, cwd=self.place, env=self.environment, text=True).split()

    def beside(self):
        """Files of compiled code beside the sources."""
        return list(self.package.rglob("*.nb[ic]"))


@pytest.mark.slow
def test_clones_of_a_version_share_what_was_compiled(tmp_path):
    one, same, other = (Clone(tmp_path / name, n, tmp_path / "cache") for name, n in (("a", 1), ("b", 1), ("c", 2)))
    assert [one.run(), same.run(), other.run(), one.run()] == [["1", "0"], ["1", "1"], ["2", "0"], ["1", "1"]]
    assert list(tmp_path.glob("cache/pttt-ooc/kernels/*.nbi")) and not one.beside() + same.beside() + other.beside()


@pytest.mark.slow
def test_without_a_cache_compiled_code_is_kept_beside_the_sources(tmp_path):
    (tmp_path / "cache").write_text("no directory")
    clone = Clone(tmp_path / "a", 1, tmp_path / "cache")
    assert [clone.run(), clone.run()] == [["1", "0"], ["1", "1"]] and clone.beside()


def test_where_the_cache_cannot_be_used_a_sentence_says_so(cache, capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(compiler, "user_cache", lambda: tmp_path / "elsewhere")
    kernels.ensure_compiled()
    assert capsys.readouterr().err.startswith(f"{tmp_path / 'elsewhere'} cannot be written to: compiled code is kept")


def test_a_version_in_use_stays_young(cache):
    kernels.ensure_compiled()
    [stamp] = Path(gradient.receive.stats.cache_path).glob("compiled-*")
    os.utime(stamp, (1000, 1000))
    kernels.ensure_compiled()
    assert stamp.stat().st_mtime > 1000 and len(cache) == 1


def test_the_digest_is_of_all_sources(monkeypatch, tmp_path):
    for name in jit.SOURCES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").touch()
    monkeypatch.setattr(compiler, "__file__", str(tmp_path / "compiler.py"))
    found = {compiler._digest()}
    for name in jit.SOURCES:
        (tmp_path / f"{name}.py").write_text(name)
        found.add(compiler._digest())
    monkeypatch.setattr(compiler.llvm, "get_host_cpu_name", lambda: "another")
    found.add(compiler._digest())
    assert len(found) == len(jit.SOURCES) + 2


def names(directory):
    return {file.name for file in directory.iterdir()}


def test_the_latest_versions_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(kernels, "KEPT", 2)
    versions = {}
    for age, version in enumerate(("", "a" * 16, "b" * 16, "c" * 16)):
        end = f"-{version}" if version else ""
        versions[age] = {f"cells.split-63.py311{end}.nbi", f"cells.split-63.py311{end}.12.nbc", f"compiled{end or '-'}"}
        for name in versions[age]:
            (tmp_path / name).touch()
            os.utime(tmp_path / name, (1000 - age, 1000 - age))
    (tmp_path / "cells.cpython-311.pyc").touch()
    kernels.forget_versions([tmp_path])
    assert names(tmp_path) == versions[0] | versions[1] | {"cells.cpython-311.pyc"}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache with nothing in it, and a list of what is compiled into it."""
    done = []

    class Kernel:
        class stats:
            cache_path = str(tmp_path / "cache")

    monkeypatch.setattr(kernels.gradient, "receive", Kernel)
    monkeypatch.setattr(compiler, "user_cache", lambda: tmp_path)
    monkeypatch.setattr(kernels, "_compile", lambda compiling: len(done.append(compiler.DIGEST) or done))
    return done


def test_each_version_is_compiled_once(cache, monkeypatch):
    for version in ("a" * 16, "b" * 16, "a" * 16):
        monkeypatch.setattr(compiler, "DIGEST", version)
        kernels.ensure_compiled()
    assert cache == ["a" * 16, "b" * 16]


def test_a_failed_compilation_is_repeated(cache, monkeypatch):
    def fail(compiling):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(kernels, "_compile", fail)
        kernels.ensure_compiled()
    kernels.ensure_compiled()
    assert len(cache) == 1


def test_one_process_compiles_and_others_wait_for_it(cache, monkeypatch, capsys):
    tried = []

    def lock(file, how):  # the other process is through when the lock is free
        tried.append(how)
        if how & locks.fcntl.LOCK_NB:
            raise BlockingIOError
        (kernels.Path(file.name).parent / f"compiled-{compiler.DIGEST}").touch()

    monkeypatch.setattr(locks.fcntl, "flock", lock)
    kernels.ensure_compiled()
    assert len(tried) == 2 and not cache
    assert capsys.readouterr().err == "Waiting for another process, which compiles the kernels ...\n"


def test_a_block_goes_on_while_kernels_are_compiled(cache, monkeypatch):
    begun, done = threading.Event(), threading.Event()

    def compile_all(compiling):
        begun.set()
        assert done.wait(60)
        return 1

    monkeypatch.setattr(kernels, "_compile", compile_all)
    with kernels.compiled_meanwhile():
        assert begun.wait(60)
        assert not list(Path(gradient.receive.stats.cache_path).glob("compiled-*"))
        done.set()
    assert list(Path(gradient.receive.stats.cache_path).glob("compiled-*"))


def test_a_compilation_that_fails_meanwhile_is_told(cache, monkeypatch):
    def fail(compiling):
        raise PtttError("no room")

    monkeypatch.setattr(kernels, "_compile", fail)
    with pytest.raises(PtttError, match="no room"), kernels.compiled_meanwhile():
        pass


@pytest.mark.parametrize("error", [KeyboardInterrupt, PtttError])
def test_a_block_that_fails_stops_the_compilation(cache, monkeypatch, error):
    begun, children = threading.Event(), []

    def compile_all(compiling):
        children.append(subprocess.Popen(["sleep", "600"]))
        compiling.begins(children[0])
        begun.set()
        return children[0].wait()

    monkeypatch.setattr(kernels, "_compile", compile_all)
    with pytest.raises(error), kernels.compiled_meanwhile():
        assert begun.wait(60)
        raise error
    assert children[0].returncode == -signal.SIGTERM


def test_a_compilation_that_is_stopped_before_it_begins_ends_when_it_begins(cache, monkeypatch):
    stopped, ended = threading.Event(), threading.Event()

    def compile_all(compiling):
        assert stopped.wait(60)
        child = subprocess.Popen(["sleep", "600"])
        compiling.begins(child)
        assert child.wait() == -signal.SIGTERM
        ended.set()
        return 1

    monkeypatch.setattr(kernels, "_compile", compile_all)
    with pytest.raises(KeyboardInterrupt), kernels.compiled_meanwhile():
        raise KeyboardInterrupt
    stopped.set()
    assert ended.wait(60)


def test_a_compilation_that_is_stopped_leaves_no_processes(tmp_path, monkeypatch):
    if getattr(gradient.receive, "stats", None) is None:
        pytest.skip("numba is told to compile nothing")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(KeyboardInterrupt), kernels._child(str(scratch)) as child:
        assert child.stdout.readline().startswith("pttt_ooc.")
        started = psutil.Process(child.pid).children()
        raise KeyboardInterrupt
    assert started and not psutil.wait_procs(started, timeout=60)[1]


@pytest.mark.slow
@pytest.mark.parametrize("compiling", [False, True], ids=["at its start", "while it compiles"])
def test_a_compilation_whose_starter_is_gone_ends(tmp_path, compiling):
    """As when an interrupt comes while it is started: nobody has a handle on it then."""
    if getattr(gradient.receive, "stats", None) is None:
        pytest.skip("numba is told to compile nothing")
    command = [sys.executable, "-m", "pttt_ooc.stages.kernel_calls", str(tmp_path)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as child:
        if compiling:
            assert child.stdout.readline().startswith("pttt_ooc.")
        started = psutil.Process(child.pid).children()
        child.stdin.close()
        assert child.wait() == 1
        assert started or not compiling
        assert not psutil.wait_procs(started, timeout=60)[1]


def test_kernels_of_modules_that_are_to_be_interpreted_are_plain_functions(monkeypatch):
    monkeypatch.setattr(compiler, "DIRECTORIES", set())  # this module is no room of kernels

    def function():
        return 1

    with jit.interpreted():
        assert jit.kernel(function) is jit.bare_kernel(function) is function
    if getattr(gradient.receive, "stats", None):  # else numba is told to compile nothing
        assert function not in (jit.kernel(function), jit.bare_kernel(function))


def test_one_process_at_a_time_saves_what_it_has_compiled(monkeypatch, tmp_path):
    """Two processes that add to the list of a kernel's types at the same moment would lose one of them."""
    saved = []

    def save(cache, types, data):
        with open(Path(cache.cache_path) / "saving.lock") as lock, pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        saved.append(types)

    monkeypatch.setattr(compiler.FunctionCache, "save_overload", save)
    monkeypatch.setattr(compiler.numba.config, "CACHE_DIR", str(tmp_path))
    compiler._Cache(save).save_overload("types", None)
    assert saved == ["types"]


def test_the_number_that_is_shown_is_the_number_of_kernels():
    kernels.ensure_compiled()
    cache = getattr(gradient.receive, "stats", None)
    if cache is None:
        pytest.skip("numba is told to compile nothing")
    assert int((Path(cache.cache_path) / f"compiled-{compiler.DIGEST}").read_text()) == kernels.KERNELS


def test_a_line_every_few_seconds_where_there_is_no_terminal(monkeypatch, capsys):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    with kernels._Count() as count:
        for n in range(1, 13):
            clock[0] += 1
            count.show(n)
    shown = [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()]
    assert shown == [f"{n} of {kernels.KERNELS} ..." for n in (0, 5, 10)]
