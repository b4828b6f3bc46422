"""Compiled code: none of another version of the sources is ever used, and kernels take only what its name covers."""

import ast
import builtins
import errno
import json
import os
import signal
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path

import psutil
import pytest

from pttt_ooc import compiled_code, jit
from pttt_ooc.cfr.sweep import gradient
from pttt_ooc.disk import locks
from pttt_ooc.errors import PtttError
from pttt_ooc.extras import EXTRAS
from pttt_ooc.imports import PACKAGE, source_file
from pttt_ooc.pipeline.stages import compilation as kernels
from pttt_ooc.pipeline.stages import kernel_calls

MODULES = [str(file.relative_to(PACKAGE).with_suffix("")) for file in PACKAGE.rglob("*.py")]
KERNELS = sorted(filter(jit.has_kernels, MODULES))
BARE = ("other_games/arena/kernels/clock", "cfr/sweep/vectors")
"""Modules that write the compiler's instructions, for kernels elsewhere."""


@cache
def parsed(module):
    return ast.parse(source_file(module).read_text(encoding="utf-8"))


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
    return any(loaded(decorator) & {*jit.DECORATORS, "intrinsic", "overload"} for decorator in function.decorator_list)


@pytest.mark.long
def test_all_modules_with_kernels_are_known():
    for name in MODULES:
        tree = parsed(name)
        found = [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and is_compiled(n)]
        assert name in KERNELS or not found or name in BARE, name


def test_versions_are_of_python_libraries_and_processor(monkeypatch):
    def versions():
        return jit.version(["games/structure/orders"]), jit.version_of(gradient.receive)

    found = {versions()}
    for changed in range(5):
        parts = [f"{n} changed" if n == changed else part for n, part in enumerate(jit._environment())]
        with monkeypatch.context() as patch:
            patch.setattr(jit, "_environment", lambda parts=parts: parts)
            found.add(versions())
    assert len({one for one, _ in found}) == len({two for _, two in found}) == 6


@pytest.mark.slow
def test_all_kernels_are_kept_by_version():
    for name in MODULES:
        tree = parsed(name)
        if name != "jit":  # numba's own decorators know nothing of versions
            attributes = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and ast.unparse(n) != "jax.jit"]
            assert not {n.attr for n in attributes} & {"njit", "jit", "vectorize", "overload"}, name
            assert not imports(tree).keys() & {"njit", "vectorize", "guvectorize", "cfunc"}, name


TWO = "from pttt_ooc.jit import kernel\nfrom pttt_ooc.games.structure.orders import one\n"
TWO += "@kernel\ndef two(): return one() + 1\n"
RUN = "from pttt_ooc.pipeline.files.infosets import two; print(two(), len(two.stats.cache_hits))"


@pytest.mark.long
def test_compiled_code_of_another_version_is_not_used_and_not_lost(tmp_path):
    package = tmp_path / "pttt_ooc"
    for name in ("pipeline/files", "games/structure"):
        (package / name).mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("imports", "errors", "compiled_code", "ingredients", "jit"):
        (package / f"{name}.py").write_text(source_file(name).read_text())
    (package / "pipeline" / "files" / "infosets.py").write_text(TWO)

    def run(one):
        source = f"from pttt_ooc.jit import kernel\n@kernel\ndef one(): return {one}\n"
        (package / "games" / "structure" / "orders.py").write_text(source)
        return subprocess.check_output(command, cwd=tmp_path, env=environment, text=True).split()

    command = [sys.executable, "-B", "-c", RUN]  # Python's own cache looks at seconds and sizes only
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "NUMBA_DISABLE_JIT")}
    environment |= {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    assert [run(1), run(2), run(1)] == [["2", "0"], ["3", "0"], ["2", "1"]]


WING = "from pttt_ooc.jit import kernel\n@kernel\ndef two(): return {}\n"
RUN_WING = "from pttt_ooc.wing import two; print(two(), len(two.stats.cache_hits))"


class Clone:
    """A package with one kernel."""

    def __init__(self, place, result, cache):
        self.place, self.package = place, place / "pttt_ooc"
        self.package.mkdir(parents=True)
        (self.package / "__init__.py").touch()
        for name in ("imports", "errors", "compiled_code", "ingredients", "jit"):
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
        return list(self.package.rglob("*.nbc"))


@pytest.mark.long
def test_clones_of_a_version_share_what_was_compiled(tmp_path):
    one, same, other = (Clone(tmp_path / name, n, tmp_path / "cache") for name, n in (("a", 1), ("b", 1), ("c", 2)))
    assert [one.run(), same.run(), other.run(), one.run()] == [["1", "0"], ["1", "1"], ["2", "0"], ["1", "1"]]
    assert list(tmp_path.glob("cache/pttt-ooc/kernels/*.nbc")) and not one.beside() + same.beside() + other.beside()


@pytest.mark.long
def test_without_a_cache_compiled_code_is_kept_beside_the_sources(tmp_path):
    (tmp_path / "cache").write_text("no directory")
    clone = Clone(tmp_path / "a", 1, tmp_path / "cache")
    assert [clone.run(), clone.run()] == [["1", "0"], ["1", "1"]] and clone.beside()


def test_where_the_cache_cannot_be_used_a_sentence_says_so(cache, capsys, tmp_path):
    tmp_path.joinpath("user").write_text("no directory")
    kernels.ensure_compiled()
    kernels.ensure_compiled()
    told = f"{tmp_path / 'user'} cannot be written to: compiled code is kept in {tmp_path / 'other'}.\n"
    assert capsys.readouterr().err == told and cache.done == PARTS and len(cache.stamps()) == len(PARTS)


def test_where_nothing_can_be_kept_nothing_is_compiled_before_it_is_called(cache, capsys, tmp_path):
    for name in ("user", "other"):
        tmp_path.joinpath(name).write_text("no directory")
    kernels.ensure_compiled()
    kernels.ensure_compiled()
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "can be kept in none of" in told and not cache.done


def test_a_disk_that_fills_up_meanwhile_ends_nothing(cache, capsys, monkeypatch):
    monkeypatch.setattr(kernels, "_compile", lambda *_: kernels._Done(refusal="No space left on device"))
    kernels.ensure_compiled()
    assert "(No space left on device)" in capsys.readouterr().err and not cache.stamps()


def test_a_stamp_that_cannot_be_written_ends_nothing(cache, capsys, monkeypatch, tmp_path):
    def compile_one(parts, compiling, end, beside):
        done = kernels._Done()
        done.files["index"].add(str(tmp_path / "gone"))
        end("index", done)
        return done

    monkeypatch.setattr(kernels, "_compile", compile_one)
    kernels.ensure_compiled(["index"])
    assert "(No such file or directory)" in capsys.readouterr().err and not cache.stamps()


def test_where_files_cannot_be_locked_kernels_are_compiled_all_the_same(cache, monkeypatch):
    def fail(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", fail)
    kernels.ensure_compiled(["index"])
    assert len(cache.done) == len(cache.stamps()) == 1


def test_a_version_in_use_stays_young(cache):
    kernels.ensure_compiled(["index"])
    [stamp] = cache.stamps()
    os.utime(stamp, (1000, 1000))
    kernels.ensure_compiled(["index"])
    assert stamp.stat().st_mtime > 1000 and len(cache.done) == 1


def test_only_what_is_asked_for_is_compiled_in_the_order_of_first_use(cache):
    kernels.ensure_compiled(["evaluation", "solver"])
    assert cache.done == ["solver", "evaluation"]
    kernels.ensure_compiled(["export", "solver"])
    kernels.ensure_compiled([])
    assert cache.done == ["solver", "evaluation", "export"]
    assert {part for stage in kernels.STAGES for part in kernels.stage_kernels(stage)} <= {*kernels.KERNELS}
    assert (
        kernels.stage_kernels("report") == () and kernels.stage_kernels("finish", listed=False) == kernels.DOUBLE_ORACLE
    )


def test_a_part_that_is_complete_is_not_waited_for(cache, monkeypatch):
    """Another process, here another thread, holds the locks of what it has not compiled yet, and of nothing else."""
    compiled, asked = threading.Event(), threading.Event()

    def compile_slowly(parts, compiling, end, beside):
        for part in parts:
            cache.compile_part(part, end)
            compiled.set()
            assert asked.wait(60)
        return kernels._Done()

    monkeypatch.setattr(kernels, "_compile", compile_slowly)
    with kernels.compiled_meanwhile(["index", "solver"]):
        assert compiled.wait(60)
        kernels.ensure_compiled(["index"])
        assert cache.done == ["index"]
        asked.set()
    assert cache.done == ["index", "solver"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda stamp, file: stamp.write_text(""),
        lambda stamp, file: stamp.write_text("154\n"),
        lambda stamp, file: stamp.write_bytes(bytes(stamp.stat().st_size)),
        lambda stamp, file: stamp.write_text(stamp.read_text()[:-2]),
        lambda stamp, file: stamp.write_text('{"kernels": 1, "files": {}}'),
        lambda stamp, file: stamp.write_text('{"kernels": 1, "files": ["x"]}'),
        lambda stamp, file: os.truncate(file, 3),
        lambda stamp, file: file.unlink(),
    ],
)
def test_a_damaged_cache_is_filled_again(cache, damage):
    kernels.ensure_compiled(["index"])
    [stamp], [file] = cache.stamps(), cache.files()
    damage(stamp, file)
    kernels.ensure_compiled(["index"])
    kernels.ensure_compiled(["index"])
    assert len(cache.done) == 2


def test_a_version_that_is_kept_anywhere_is_not_compiled(cache, tmp_path):
    """As in an image whose folders cannot be written to."""
    kernels.ensure_compiled(["index"])
    (tmp_path / "user").rename(tmp_path / "other")
    tmp_path.joinpath("user").write_text("no directory")
    kernels.ensure_compiled(["index"])
    assert len(cache.done) == 1


def names(directory):
    return {file.name for file in directory.iterdir()}


def test_the_latest_versions_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(kernels, "KEPT", 2)
    kept = {"cells.cpython-311.pyc"}
    for age, version in enumerate("abcd"):
        end = f"-{version * 16}"
        for kernel in (
            f"cells.split-6{age}.py311",
            "perft.locals.perft-44.py311-mnk",
            "perft.locals.perft-44.py311-two",
        ):
            code = (f"{kernel}{end}.0123456789ab.nbc", f"{kernel}{end}.0123456789ab.nbc.{'f' * 16}.tmp")
            for name in (*code, f"{kernel}{end}.nbi", f"{kernel}{end}.12.nbc", f"compiled-index{end}"):
                (tmp_path / name).touch()
                os.utime(tmp_path / name, (1000 - age, 1000 - age))
                kept |= {name} if age < 2 else set()
    (tmp_path / "cells.cpython-311.pyc").touch()
    kernels.forget_versions([tmp_path])
    assert names(tmp_path) == kept


PARTS = kernels._possible(kernels.KERNELS)


class Cache:
    """A cache with nothing in it, and a list of the parts that are compiled into it."""

    def __init__(self, place):
        self.place, self.done, self.versions = place, [], []

    def compile_parts(self, parts, compiling, end, beside):
        for part in parts:
            self.compile_part(part, end)
        return kernels._Done()

    def compile_part(self, part, end):
        self.done.append(part)
        self.versions.append(kernels.version())
        root = compiled_code.writable_root(kernels._SOURCE)
        file = compiled_code.folder(root, kernels._SOURCE) / f"one-{kernels.version()}.nbc"
        file.write_text("compiled")
        done = kernels._Done()
        done.kernels[part].add("one")
        done.files[part].add(str(file))
        end(part, done)

    def stamps(self):
        return list(self.place.rglob("compiled-*"))

    def files(self):
        return list(self.place.rglob("*.nbc"))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    if getattr(gradient.receive, "stats", None) is None:
        pytest.skip("numba is told to compile nothing")
    found = Cache(tmp_path)
    monkeypatch.setattr(compiled_code, "user_cache", lambda: tmp_path / "user")
    monkeypatch.setattr(compiled_code, "roots", lambda in_tree=False: [tmp_path / "user", tmp_path / "other"])
    monkeypatch.setattr(compiled_code, "_is_safe", lambda root: True)
    monkeypatch.setattr(compiled_code, "_told", set())
    monkeypatch.setattr(jit, "DIRECTORIES", set())
    monkeypatch.setattr(kernels, "_compile", found.compile_parts)
    return found


def test_each_version_is_compiled_once(cache, monkeypatch):
    for version in ("a" * 16, "b" * 16, "a" * 16):
        monkeypatch.setattr(kernels, "version", lambda version=version: version)
        kernels.ensure_compiled(["index"])
    assert cache.versions == ["a" * 16, "b" * 16]


def test_a_failed_compilation_is_repeated(cache, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(kernels, "_compile", fail)
        kernels.ensure_compiled(["index"])
    kernels.ensure_compiled(["index"])
    assert len(cache.done) == 1


def test_one_process_compiles_and_others_wait_for_it(cache, monkeypatch, capsys):
    tried = []

    def lock(file, how):  # the other process is through when the lock is free
        tried.append(how)
        if how & locks.fcntl.LOCK_NB:
            raise BlockingIOError
        stamps = {"index": kernels.Path(file.name).parent / kernels._stamp_name("index")}
        kernels._fill(stamps, kernels.Compiling(), lambda part: None, False)

    monkeypatch.setattr(locks.fcntl, "flock", lock)
    kernels.ensure_compiled(["index"])
    assert len(tried) == 2 and len(cache.done) == 1
    assert capsys.readouterr().err == "Waiting for another process, which compiles the kernels ...\n"


def test_a_block_goes_on_while_kernels_are_compiled(cache, monkeypatch):
    begun, done = threading.Event(), threading.Event()

    def compile_all(*asked):
        begun.set()
        assert done.wait(60)
        return cache.compile_parts(*asked)

    monkeypatch.setattr(kernels, "_compile", compile_all)
    with kernels.compiled_meanwhile():
        assert begun.wait(60)
        assert not cache.stamps()
        done.set()
    assert cache.stamps()


def test_a_compilation_that_fails_meanwhile_is_told(cache, monkeypatch):
    def fail(*_):
        raise PtttError("no room")

    monkeypatch.setattr(kernels, "_compile", fail)
    with pytest.raises(PtttError, match="no room"), kernels.compiled_meanwhile():
        pass


@pytest.mark.parametrize("error", [KeyboardInterrupt, PtttError])
def test_a_block_that_fails_stops_the_compilation(cache, monkeypatch, error):
    begun, children = threading.Event(), []

    def compile_all(parts, compiling, end, beside):
        children.append(subprocess.Popen(["sleep", "600"]))
        compiling.begins(children[0])
        begun.set()
        children[0].wait()
        return kernels._Done()

    monkeypatch.setattr(kernels, "_compile", compile_all)
    with pytest.raises(error), kernels.compiled_meanwhile():
        assert begun.wait(60)
        raise error
    assert children[0].returncode == -signal.SIGTERM


def test_a_compilation_that_is_stopped_before_it_begins_ends_when_it_begins(cache, monkeypatch):
    stopped, ended = threading.Event(), threading.Event()

    def compile_all(parts, compiling, end, beside):
        assert stopped.wait(60)
        child = subprocess.Popen(["sleep", "600"])
        compiling.begins(child)
        assert child.wait() == -signal.SIGTERM
        ended.set()
        return kernels._Done()

    monkeypatch.setattr(kernels, "_compile", compile_all)
    with pytest.raises(KeyboardInterrupt), kernels.compiled_meanwhile():
        raise KeyboardInterrupt
    stopped.set()
    assert ended.wait(60)


@pytest.mark.slow
def test_a_compilation_that_is_stopped_leaves_no_processes(tmp_path, monkeypatch):
    if getattr(gradient.receive, "stats", None) is None:
        pytest.skip("numba is told to compile nothing")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    with pytest.raises(KeyboardInterrupt), kernels._child(str(scratch), ["solver"]) as child:
        assert child.stdout.readline().startswith("compiles solver pttt_ooc.")
        started = psutil.Process(child.pid).children()
        raise KeyboardInterrupt
    assert started and not psutil.wait_procs(started, timeout=60)[1]


@pytest.mark.long
@pytest.mark.parametrize("compiling", [False, True], ids=["at its start", "while it compiles"])
def test_a_compilation_whose_starter_is_gone_ends(tmp_path, compiling):
    """As when an interrupt comes while it is started: nobody has a handle on it then."""
    if getattr(gradient.receive, "stats", None) is None:
        pytest.skip("numba is told to compile nothing")
    command = [sys.executable, "-m", "pttt_ooc.pipeline.stages.kernel_calls", str(tmp_path), "solver"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as child:
        if compiling:
            assert child.stdout.readline().startswith("compiles solver pttt_ooc.")
        started = psutil.Process(child.pid).children()
        child.stdin.close()
        assert child.wait() == 1
        assert started or not compiling
        assert not psutil.wait_procs(started, timeout=60)[1]


def test_kernels_of_modules_that_are_to_be_interpreted_are_plain_functions(monkeypatch):
    monkeypatch.setattr(jit, "DIRECTORIES", set())  # this module is no room of kernels

    def function():
        return 1

    with jit.interpret_kernels():
        assert jit.kernel(function) is jit.bare_kernel(function) is function
    if getattr(gradient.receive, "stats", None):  # else numba is told to compile nothing
        assert function not in (jit.kernel(function), jit.bare_kernel(function))


def test_the_number_that_is_shown_is_the_number_of_kernels():
    """Roughly: what several parts need is compiled by those that begin before another has it."""
    kernels.ensure_compiled()
    if getattr(gradient.receive, "stats", None) is None:
        pytest.skip("numba is told to compile nothing")
    for part in PARTS:
        [stamp] = filter(Path.exists, kernels._stamps(part))
        if len(list(stamp.parent.glob(f"compiled-{part}-*"))) > 1:
            pytest.skip("another version has compiled some kernels before")
        assert kernels.KERNELS[part] / 2 <= json.loads(stamp.read_text())["kernels"] <= 2 * kernels.KERNELS[part] + 20


def test_a_line_every_few_seconds_where_there_is_no_terminal(monkeypatch, capsys):
    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    with kernels._Count(50) as count:
        for n in range(1, 13):
            clock[0] += 1
            count.show(n)
    shown = [line.partition(": ")[2] for line in capsys.readouterr().err.splitlines()]
    assert shown == [f"{n} of 50 ..." for n in (0, 5, 10)]


def test_no_kernel_needs_an_extra_but_those_of_the_double_oracle(monkeypatch, tmp_path):
    """Who installs the wheel alone compiles all others."""
    hidden = {module for modules in EXTRAS.values() for module in modules}
    for name in [*sys.modules, *hidden]:
        if name.partition(".")[0] in hidden:
            monkeypatch.setitem(sys.modules, name, None)
    assert list(kernel_calls.PARTS) == list(kernels.KERNELS)
    assert {*kernels.KERNELS} - {*kernels._possible(kernels.KERNELS)} == {*kernels.WITH_EXACT}
    for part in kernels._possible(kernels.KERNELS):
        (tmp_path / part).mkdir()
        kernel_calls.PARTS[part](tmp_path / part)
