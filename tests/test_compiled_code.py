"""Compiled code on disk: what cannot be loaded is compiled, and what cannot be kept is compiled again."""

import errno
import importlib.util
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from pttt_ooc import compiled_code, jit

pytestmark = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="numba is told to compile nothing")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A package with the module `room/tiny`, and a user without compiled code."""
    package = tmp_path / "package"
    (package / "room").mkdir(parents=True)
    (package / "room" / "tiny.py").write_text(
        "def add(a, b):\n    return a + b\n\n\ndef other(a, b):\n    return a - b\n"
    )
    monkeypatch.setattr(compiled_code, "PACKAGE", package)
    monkeypatch.setattr(compiled_code, "_told", set())
    monkeypatch.setattr(compiled_code, "used", set())
    monkeypatch.setattr(jit, "DIRECTORIES", set())
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    return tmp_path


def tiny(place, name="add", **options):
    """A kernel, as another process makes it."""
    spec = importlib.util.spec_from_file_location("tiny", place / "package" / "room" / "tiny.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return jit._compile(getattr(module, name), **options)


def found(kernel, result=5):
    """Whether the code of the kernel was found on disk."""
    assert kernel(2, 3) == result
    return bool(kernel.stats.cache_hits)


def files(place):
    return sorted(place.rglob("*.nbc"))


def test_code_is_kept_in_the_users_cache_with_a_file_for_each_list_of_types(place):
    assert not found(tiny(place)) and found(tiny(place))
    assert tiny(place)(2.0, 3.0) == 5
    assert len(files(place)) == len(files(place / "cache" / "room")) == 2
    assert compiled_code.used == set(files(place))


def other_kernels(place, file):
    assert not found(tiny(place, "other"), -1)
    (other,) = set(files(place)) - {file}
    other.replace(file)


def fill(file, content):
    file.write_bytes(content)


def make_directory(place, file):
    file.unlink()
    file.mkdir()
    (file / "more").touch()


DAMAGES = {
    "empty": lambda place, file: fill(file, b""),
    "within the digest": lambda place, file: fill(file, file.read_bytes()[:20]),
    "no content": lambda place, file: fill(file, file.read_bytes()[:32]),
    "cut": lambda place, file: fill(file, file.read_bytes()[:-1]),
    "longer": lambda place, file: fill(file, file.read_bytes() + b"\0"),
    "zeros": lambda place, file: fill(file, bytes(file.stat().st_size)),
    "a block of zeros": lambda place, file: fill(file, file.read_bytes()[:4096] + bytes(file.stat().st_size - 4096)),
    "a bit": lambda place, file: fill(
        file, (lambda all: all[:-9] + bytes([all[-9] ^ 1]) + all[-8:])(file.read_bytes())
    ),
    "text": lambda place, file: fill(file, b"some text\n" * 999),
    "no compiled code": lambda place, file: compiled_code._write(file, b"I1\n."),
    "no pickle": lambda place, file: compiled_code._write(file, b"no pickle"),
    "code of another kernel": other_kernels,
    "a directory": make_directory,
}


@pytest.mark.parametrize("how", DAMAGES)
def test_damaged_code_is_deleted_and_compiled_and_said_once(place, capfd, how):
    assert not found(tiny(place))
    (file,) = files(place)
    DAMAGES[how](place, file)
    assert not found(tiny(place)) and found(tiny(place))
    DAMAGES[how](place, file)
    assert not found(tiny(place)) and found(tiny(place))
    told = f"Compiled code in {place / 'cache'} was damaged, as after a power cut: that is compiled again.\n"
    assert capfd.readouterr() == ("", told)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ESTALE])
def test_code_that_cannot_be_read_is_compiled(place, monkeypatch, capfd, number):
    assert not found(tiny(place))

    def fail(path):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", fail)
        assert not found(tiny(place))
    assert found(tiny(place)) and "was damaged" in capfd.readouterr().err


def test_too_little_memory_is_no_damage(place, monkeypatch):
    assert not found(tiny(place))

    def fail(data):
        raise MemoryError

    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(compiled_code, "_content", fail)
        tiny(place)(2, 3)
    assert found(tiny(place))


def block(path):
    """Let nothing be made below a path, for the administrator, too."""
    path.write_text("no directory")


def test_code_is_kept_in_the_first_place_that_can_be_written(place, capfd):
    block(place / "cache")
    assert not found(tiny(place)) and found(tiny(place))
    assert files(place) == files(place / "package" / "room" / "__pycache__") != []
    told = f"{place / 'cache'} cannot be written to: compiled code is kept in {place / 'package'}.\n"
    assert capfd.readouterr().err == told
    compiled_code.delete(place / "package" / "room" / "__pycache__")
    block(place / "package" / "room" / "__pycache__")
    assert not found(tiny(place)) and found(tiny(place))
    own = place / "tmp" / f"pttt-ooc-{os.getuid()}"
    assert files(place) == files(own / "room") != [] and own.stat().st_mode & 0o777 == 0o700
    assert f"compiled code is kept in {own}" in capfd.readouterr().err


def test_without_a_home_code_is_kept_elsewhere(place, capfd, monkeypatch):
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for a number of a user that nobody knows
    assert not found(tiny(place)) and found(tiny(place))
    assert not capfd.readouterr().err.startswith("~"), "a user without a home has no cache to be missed"
    assert files(place) == files(place / "package") != [] and not Path("~").exists()


def test_code_for_other_users_is_kept_beside_the_sources_without_a_word(place, capfd):
    assert not found(tiny(place, in_tree=True)) and found(tiny(place, in_tree=True))
    assert files(place) == files(place / "package")
    compiled_code.delete(place / "package" / "room" / "__pycache__")
    block(place / "package" / "room" / "__pycache__")
    assert not found(tiny(place, in_tree=True)) and found(tiny(place, in_tree=True))
    assert files(place) == files(place / "cache") and not capfd.readouterr().err


def test_nowhere_to_keep_it_one_sentence_and_the_result(place, capfd):
    block(place / "cache")
    block(place / "package" / "room" / "__pycache__")
    (place / "tmp").rmdir()
    block(place / "tmp")
    assert not found(tiny(place)) and not found(tiny(place, "other"), -1)
    told = capfd.readouterr().err
    assert told.count("\n") == 1 and told.startswith("Compiled code can be kept in none of ")
    assert all(str(place / part) in told for part in ("cache", "package", "tmp")) and "NUMBA_CACHE_DIR names" in told
    assert not list(place.rglob("*.tmp"))


def test_what_can_only_be_read_is_used(place, monkeypatch, capfd):
    """A container's image, or the package's own folder, may hold what nobody may write there."""
    assert not found(tiny(place))

    def full(file, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(compiled_code, "_write", full)
    assert found(tiny(place)) and not found(tiny(place, "other"), -1)
    assert "(No space left on device): each process compiles what it calls" in capfd.readouterr().err


def test_a_disk_that_fills_up_leaves_no_part(place, monkeypatch):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        assert not found(tiny(place))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not files(place) and not list(place.rglob("*.tmp"))
    assert not found(tiny(place)) and found(tiny(place))


@pytest.mark.parametrize("whose", ["somebody else's", "others may write", "a link", "a file"])
def test_code_in_the_directory_of_all_users_is_only_run_from_ones_own(place, monkeypatch, whose):
    """Whoever can write there could have the code of their choice run."""
    block(place / "cache")
    block(place / "package" / "room" / "__pycache__")
    assert not found(tiny(place)) and found(tiny(place))
    own = place / "tmp" / f"pttt-ooc-{os.getuid()}"
    if whose == "others may write":
        own.chmod(0o770)
    elif whose == "a link":
        own.rename(place / "tmp" / "theirs")
        own.symlink_to(place / "tmp" / "theirs")
    elif whose == "a file":
        compiled_code.delete(own)
        block(own)
    else:
        own.rename(own.with_name("pttt-ooc-12345"))
        monkeypatch.setattr(os, "getuid", lambda: 12345)
    before = {file: file.stat().st_mtime_ns for file in files(place)}
    assert not found(tiny(place)) and not found(tiny(place))
    assert {file: file.stat().st_mtime_ns for file in files(place)} == before


def test_a_writable_root_is_one_where_a_file_can_be_written(place, monkeypatch):
    source = place / "package" / "room" / "tiny.py"
    assert compiled_code.writable_root(source) == place / "cache"
    assert compiled_code.writable_root(source, in_tree=True) == place / "package"
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # as on a full disk, a file can be made, not filled
    try:
        assert compiled_code.writable_root(source) is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_process_that_does_nothing_else_gives_up(place, monkeypatch):
    told = []
    monkeypatch.setattr(compiled_code, "_tell", None)
    compiled_code.keep_or_fail(told.append)
    assert not found(tiny(place))
    (file,) = files(place)
    file.write_bytes(b"")
    assert not found(tiny(place)) and len(told) == 1 and "was damaged" in told[0]
    block(place / "package" / "room" / "__pycache__")
    for part in ("cache", "tmp"):
        compiled_code.delete(place / part)
        block(place / part)
    with pytest.raises(compiled_code.NotKeptError, match="exists|directory"):
        tiny(place)(2, 3)


def test_versions_in_use_stay_young(place):
    assert not found(tiny(place))
    (file,) = files(place)
    os.utime(file, (1000, 1000))
    assert found(tiny(place)) and file.stat().st_mtime > 1000


def test_what_cannot_be_kept_by_its_nature_is_refused(place):
    class Result:
        class library:
            has_dynamic_globals = True

    with pytest.raises(TypeError, match="addresses of this process"):
        tiny(place)._cache.save_overload((), Result)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("command", ["info", "evaluate"])
def test_a_setting_with_which_the_compiler_does_not_load_gets_one_sentence(tmp_path, command):
    arguments = {
        "info": ["--game", "mini-2x2k2-abrupt"],
        "evaluate": ["uniform", "uniform", "--game", "mini-2x2k2-abrupt"],
    }
    call = [sys.executable, "-m", "pttt_ooc.cli", command, *arguments[command]]
    environment = {**os.environ, "NUMBA_NUM_THREADS": "0" if command == "info" else "-3"}
    done = subprocess.run(call, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and not done.stdout and done.stderr.count("\n") == 1
    assert f"NUMBA_NUM_THREADS={environment['NUMBA_NUM_THREADS']}: Number of threads" in done.stderr


@pytest.mark.slow_but_one
@pytest.mark.parametrize("module", ["other_games.arena.kernels.clock", "cfr.sweep.vectors"])
def test_the_setting_is_told_whatever_module_comes_first(tmp_path, module):
    call = f"from pttt_ooc.errors import ConfigError\ntry: import pttt_ooc.{module}\nexcept ConfigError: print('told')"
    environment = {**os.environ, "NUMBA_NUM_THREADS": "0"}
    assert subprocess.check_output([sys.executable, "-c", call], env=environment, text=True) == "told\n"


def test_errors_of_the_compiler_itself_are_not_taken_for_settings(monkeypatch):
    with monkeypatch.context() as patch, pytest.raises(ImportError):
        patch.setitem(sys.modules, "numba", None)
        jit.compiler()


@pytest.mark.slow
def test_code_that_is_kept_runs_without_the_tables_of_the_compiler(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "import numpy as np\n"
        "from pttt_ooc.jit import kernel\n\n"
        "@kernel\n"
        "def twice(numbers):\n"
        "    out = np.empty(len(numbers))\n"
        "    for i in range(len(numbers)):\n"
        "        out[i] = 2 * np.exp(np.log(numbers[i]))\n"
        "    return out\n\n"
        "@kernel\n"
        "def four_times(numbers):\n"
        "    return twice(twice(numbers))\n\n"
        "found = twice(np.array([1.0, 8.0]))\n"
        "told = [bool(twice.stats.cache_hits), 'numba.np.linalg' in sys.modules]\n"
        "if told[0]:\n"
        "    found = four_times(found) / 4\n"
        "print(*told, *found.round(9))\n"
    )
    package = str(compiled_code.PACKAGE.parent)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": package}
    call = partial(subprocess.check_output, [sys.executable, str(program)], env=environment, text=True)
    assert call() == "False True 2.0 16.0\n"
    assert call() == "True False 2.0 16.0\n"  # and what is compiled next may call it
