"""Compiled code on disk: bots of ours read it as another user, also where a process keeps its files private."""

import importlib.util
import os
import stat

import pytest

from pttt_ooc import compiled_code, jit
from pttt_ooc.other_games.extreme import search


@pytest.fixture
def private(monkeypatch):
    """As in the processes of a course; and no other test's directories."""
    monkeypatch.setattr(jit, "DIRECTORIES", set())
    before = os.umask(0o077)
    yield
    os.umask(before)


def modes(place):
    files = [path for path in place.iterdir() if path.suffix in (".nbc",)]
    return {stat.S_IMODE(path.stat().st_mode) for path in files}, stat.S_IMODE(place.stat().st_mode)


def test_what_a_private_process_compiles_can_be_read_by_all(tmp_path, private):
    (tmp_path / "tiny.py").write_text("def add(a, b):\n    return a + b\n")
    spec = importlib.util.spec_from_file_location("tiny", tmp_path / "tiny.py")
    tiny = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tiny)
    assert jit.kernel(tiny.add)(2, 3) == 5
    (place,) = jit.DIRECTORIES
    assert modes(place) == ({0o644}, 0o755)
    (place / "tiny.secret").write_text("another file")
    compiled_code.make_readable(place)
    assert stat.S_IMODE((place / "tiny.secret").stat().st_mode) == 0o600


def test_kernels_of_the_search_that_are_private_are_put_right_before_a_bot_needs_them(tmp_path, private, monkeypatch):
    for name in ("search.1.nbc", "search.2.nbc"):
        (tmp_path / name).touch()
    jit.DIRECTORIES.add(tmp_path)
    monkeypatch.setattr(search, "ready", lambda searcher: None)
    tmp_path.chmod(0o700)
    search.main()
    assert modes(tmp_path) == ({0o644}, 0o755)


def test_kernels_of_a_factory_have_names_of_their_own():
    """The compiler numbers functions in each process anew, so that code from two processes needs other names."""

    def made(number):
        def add(a):
            return a + number

        kernel = jit.kernel(add)
        assert f"-{jit.version_of(kernel)}" in kernel._cache._name
        return kernel.py_func.__qualname__

    assert made(1) == made(1) != made(2)


def test_a_kernel_that_only_kernels_call_takes_nothing_from_python():
    """It has no code for that; without a sentence, the process would end."""

    @jit.inner_kernel
    def fall(n):
        return n if n < 1 else fall(n - 1)

    @jit.bare_kernel
    def run(n):
        return fall(n)

    if not hasattr(run, "py_func"):
        pytest.skip("numba is told to compile nothing")
    assert run(3) == 0
    with pytest.raises(TypeError, match="fall is called by kernels only"):
        fall(3)
