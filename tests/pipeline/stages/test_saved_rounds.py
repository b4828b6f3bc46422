"""Saved rounds: where they are, why they begin anew, and what is deleted."""

import pytest

from pttt_ooc import jit
from pttt_ooc.config import FinishConfig
from pttt_ooc.pipeline.frontier import run as frontier
from pttt_ooc.pipeline.frontier.settings import FrontierConfig
from pttt_ooc.pipeline.stages import finish, saved_rounds
from pttt_ooc.pipeline.stages.saved_rounds import forget_states, state_directory

pytest.importorskip("highspy")

GAME = "mini-2x3k2-abrupt"
SHORT = 1e-9  # minutes, enough for one round


def other_version(monkeypatch):
    monkeypatch.setattr(saved_rounds, "version", lambda: "another")


def other_processor(monkeypatch):
    monkeypatch.setattr(jit, "_environment", lambda: ("another",))


def test_a_state_is_named_by_start_and_code_and_others_are_told(tmp_path, capsys, monkeypatch):
    def named(start):
        place = state_directory(tmp_path, "finish-", start, "solution")
        return place, capsys.readouterr().err

    first, told = named("a")
    first.mkdir()
    assert not told and named("a") == (first, "")
    (tmp_path / "something").mkdir()
    second, told = named("b")
    assert second != first and told == (
        f"The rounds begin again: {first} is of another solution, and is deleted at the end.\n"
    )
    other_processor(monkeypatch)
    assert named("a") == (first, "")
    other_version(monkeypatch)
    third, told = named("a")
    assert third not in (first, second) and f"{first} is of another version of this program," in told
    earlier = tmp_path / "finish-0123456789abcdef"  # as versions before named them
    earlier.mkdir()
    assert f"{earlier} is of another version of this program," in named("a")[1]
    third.mkdir()
    assert named("a") == (third, "")
    forget_states(tmp_path, "finish-", kept=third)
    assert {path.name for path in tmp_path.iterdir()} == {third.name, "something"}
    forget_states(tmp_path, "finish-")
    assert [path.name for path in tmp_path.iterdir()] == ["something"]


def by_frontier(directory):
    frontier.run(FrontierConfig(game=GAME, max_minutes=SHORT), directory)


def by_finish(directory):
    finish.run(GAME, "full", FinishConfig(max_minutes=SHORT), directory, listed=False)


@pytest.mark.parametrize("stage", [by_frontier, by_finish])
def test_a_stage_goes_on_on_another_processor_and_begins_anew_in_another_version(stage, tmp_path, capsys, monkeypatch):
    def states():
        return list((tmp_path / "work").iterdir())

    stage(tmp_path)
    [first] = states()
    other_processor(monkeypatch)
    capsys.readouterr()
    stage(tmp_path)
    assert states() == [first] and "Going on after round 1." in capsys.readouterr().err
    other_version(monkeypatch)
    stage(tmp_path)
    assert f"The rounds begin again: {first} is of another version of this program," in capsys.readouterr().err
    [second] = states()
    assert second != first
