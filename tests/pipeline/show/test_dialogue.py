"""Dialogues on a terminal end in one way, wherever Ctrl-C comes."""

import io

import pytest

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.terminal.play_commands import play_game
from pttt_ooc.pipeline.show import dialogue as module
from pttt_ooc.pipeline.show.dialogue import Dialogue


def _interrupt(*_):
    raise KeyboardInterrupt


def test_an_interrupt_between_two_prompts_ends_it_as_at_a_prompt(monkeypatch, capsys):
    assert Dialogue().until_ended(_interrupt) == 130
    monkeypatch.setattr(module.sys.stdin, "readline", _interrupt, raising=False)
    assert Dialogue().until_ended(lambda: Dialogue().ask("Your move:")) == 130
    assert capsys.readouterr().out == "\nYour move: \n"


@pytest.mark.parametrize("typed", ["q\n", "", "4\n?\n99\n", None])
def test_a_game_of_the_arena_is_left(monkeypatch, capsys, typed):
    rules, opponent = game("mnk:3x3"), agent("random")
    opponent.seat(rules)
    opponent.begin(0)
    if typed is None:  # Ctrl-C while the agent thinks
        monkeypatch.setattr(opponent, "choose", _interrupt)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed or "0\n"))
    code = play_game(rules, opponent, 1 if typed is None else 0)
    shown = capsys.readouterr().out
    assert (code, shown.rstrip().endswith("The game is left.")) == (130 if typed is None else 0, True)
    assert ("is not legal here" in shown, "q ends the game" in shown) == (("99" in (typed or "")),) * 2


def test_a_game_of_the_arena_has_an_end(monkeypatch, capsys):
    rules, opponent = game("mnk:1x3+need3"), agent("random")
    opponent.seat(rules)
    opponent.begin(0)
    monkeypatch.setattr("sys.stdin", io.StringIO("0\n1\n2\n"))
    assert play_game(rules, opponent, 0) == 0
    assert capsys.readouterr().out.rstrip().endswith("It is a draw.")
