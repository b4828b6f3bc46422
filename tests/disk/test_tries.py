"""What is tried again is counted, from the beginning of each try."""

import json

import pytest

from pttt_ooc.disk.tries import KILLED, Tried, Tries
from pttt_ooc.errors import PtttError, StoreError


class Stop(Exception):
    """Somebody has stopped it."""


def attempt(tries, error=None, name="a"):
    try:
        with tries.trying(name, (Stop,)):
            if error is not None:
                raise error
    except (Exception, KeyboardInterrupt) as caught:
        assert caught is error


def test_failures_count_and_a_success_forgets_them(tmp_path):
    tries = Tries(tmp_path / "tries", 2)
    assert tries.of("a") == Tried() and tries.all() == {} and not tries.are_over("a")
    attempt(tries, PtttError("It is\nbroken."))
    assert tries.of("a").reasons == ("It is broken.",) and not tries.are_over("a")
    attempt(tries)
    assert tries.of("a") == Tried() and not list((tmp_path / "tries").iterdir())
    attempt(tries, PtttError("One."))
    attempt(tries, ValueError("\ud800"))
    assert Tries(tmp_path / "tries", 2).are_over("a") and not tries.are_over("b")
    assert tries.all() == {"a": Tried(("One.", "An unexpected error, ValueError: ?."))}


def test_a_try_that_takes_the_process_down_counts_and_one_that_is_stopped_does_not(tmp_path):
    tries = Tries(tmp_path, 2)
    with tries.trying("a", (Stop,)):
        assert Tries(tmp_path, 2).of("a").reasons == (KILLED,)
        assert Tries(tmp_path, 2).of("a").failed == ()  # it may be under way
    for stopped in (Stop(), KeyboardInterrupt()):
        attempt(tries, stopped)
        assert tries.of("a") == Tried()
    killed = [tries.trying("a", (Stop,)) for _ in range(2)]
    for one in killed:
        one.__enter__()
    assert tries.are_over("a") and tries.of("a").failed == (KILLED,) and len(killed) == 2


def test_what_is_decided_is_not_over_and_counts_anew(tmp_path):
    tries = Tries(tmp_path, 1)
    attempt(tries, PtttError("One."))
    tries.decide("a")
    assert tries.of("a") == Tried(("One.",), True) and not tries.are_over("a")
    attempt(tries, PtttError("Two."))
    assert tries.of("a") == Tried(("Two.",)) and tries.are_over("a")
    tries.keep({"b"})
    assert tries.all() == {}


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"reasons": 1, "decided": False})])
def test_a_damaged_count_is_a_sentence(tmp_path, text):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(StoreError, match=r"a\.json cannot be read; delete it"):
        Tries(tmp_path, 1).of("a")
    with pytest.raises(StoreError, match=r"a\.json cannot be looked at: Not a directory; delete it"):
        Tries(tmp_path / "a.json", 1).all()
