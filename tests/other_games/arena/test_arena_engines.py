"""Engines of other people: their protocols, their faults, and what they cost."""

import os
import re
import socket
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.other_games.arena.agents.catalogue import agent
from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches import agent_processes, runner
from pttt_ooc.other_games.arena.matches.settings import Match
from pttt_ooc.other_games.arena.research.players import line_process
from pttt_ooc.other_games.arena.research.players.engine import CodinGame, Uci, position_text
from pttt_ooc.other_games.arena.research.players.line_process import LineProcess
from tests.other_games.arena import naive_ultimate as naive
from tests.other_games.arena.arena_kit import ULTIMATE, command

PROGRAM = Path(__file__).with_name("line_engine.py")


@pytest.fixture
def program(tmp_path):
    def write(mode):
        file = tmp_path / mode.partition(" ")[0]
        file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{PROGRAM}" {mode}\n')
        file.chmod(0o755)
        return file

    return write


def play(text, games=4, of="ultimate", **options):
    costs = []
    table = runner.SeatedAgents(Match(of, (text, "random"), games, start="both", **options))
    played = table.play(range(games))
    table.close()
    for one in played:
        first = one.starter
        costs += [one.processor[n] for n in range(len(one.moves)) if n % 2 == first]
    return played, costs


@pytest.mark.parametrize("protocol", ["lines", "uci"])
def test_an_engine_plays_its_own_moves(program, protocol):
    """Every move of the program in whole games is the one that the plain rules give."""
    played, _ = play(f"engine:program={program(protocol)},protocol={protocol}", opening=2)
    assert {one.starter for one in played} == {0, 1} and not any(one.forfeit for one in played)
    for one in played:
        position = naive.Position()
        for number, move in enumerate(one.moves):
            if number >= 2 and number % 2 == one.starter:
                legal = position.moves()
                assert divmod(move, 9) == min(one for one in legal if one[0] == max(legal)[0])
            position.make(*divmod(move, 9))
        assert position.outcome()


def test_a_bot_of_codingame_plays_one_game_in_each_process(program):
    """The bot checks what it is told, and dies of anything wrong; the referee there shows what follows the numbers."""
    file = program("codingame 0.5660 127488")
    played, _ = play(f"engine:program={file},protocol=codingame", games=6, of="ultimate:most")
    assert not any(one.forfeit for one in played)
    for one in played:
        position = naive.Position(most_boards=True)
        for number, move in enumerate(one.moves):
            if number % 2 == one.starter:
                last = max(position.moves(), key=lambda m: 9 * m[0] + m[1])
                assert divmod(move, 9) == last
            position.make(*divmod(move, 9))


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("dies", "has ended and said: no memory is left."),
        ("hangs", r"has not answered for 0\.3 s"),
        ("illegal", "answers 'move 9 9', which is not move BOARD CELL"),
        ("taken", r"its move \d\.\d is not legal"),
        ("nonsense", "answers 'I resign', which is not move BOARD CELL"),
        ("endless", "sends a line without end"),
    ],
)
def test_a_fault_loses_its_game_and_no_other(program, mode, sentence, capfd):
    """The program is at fault, not the match: its third move loses each game, after a new start."""
    text = f"engine:program={program(mode)},patience=0.2,time=0.001"
    if mode != "hangs":
        text = f"engine:program={program(mode)},time=0.001"
    played, _ = play(text, games=3)
    assert all(one.winner == 1 and re.search(sentence, one.forfeit) for one in played), [o.forfeit for o in played]
    assert capfd.readouterr().err == "", "an engine may chat, nobody has to hear it"


@pytest.mark.parametrize("mode", ["chatty", "deaf"])
def test_a_program_that_chats_for_ever_has_its_time_and_no_more(program, mode):
    file = program(mode)
    process = LineProcess([str(file)])
    with closing(process), pytest.raises(ArenaError, match=r"has sent no uciok for 0\.3 s"):
        Uci().greet(process, 0.3)


def test_a_program_that_does_not_read_cannot_make_the_match_wait_for_ever(program, monkeypatch):
    """Its answers may be right all the same."""
    monkeypatch.setattr(line_process, "LISTENS", 0.3)
    process = LineProcess([str(program("deaf"))])
    with closing(process), pytest.raises(ArenaError, match="does not read what it is told"):
        for _ in range(10_000):
            process.tell("position " + "." * 100)


@pytest.mark.parametrize("text", ["4 4 0.5660 127488", "0 8", "3  5", "7 7 good luck!"])
def test_codingame_takes_the_first_two_numbers_of_a_line(text):
    assert asked_of_codingame(text) >= 0


@pytest.mark.parametrize("text", ["", "4", "4 9", "44", "4 44", "4.4", "x 4 4", "-1 -1", "4 4x", "\u0664 4"])
def test_what_does_not_begin_with_two_numbers_is_no_move(text):
    with pytest.raises(ArenaError, match="which is not ROW COLUMN"):
        asked_of_codingame(text)


def asked_of_codingame(text):
    """The move that a program is taken to have answered, at the beginning of a game."""

    class Said:
        name = "it"
        tell = staticmethod(lambda line: None)
        hear = staticmethod(lambda seconds: text)

    talk = CodinGame()
    talk.begin(Said, 1, 1.0)
    return talk.ask(Said, game("ultimate:most").start(), 1.0, 1.0)


def test_the_first_fault_is_printed_with_the_result_and_few_games_find_nothing(program, capsys):
    text = f"engine:program={program('nonsense')},time=0.001"
    told = command(capsys, "match", text, "random", "--games", "2", "--processes", "1")
    assert "forfeited 2 games; the first: " in told and "answers 'I resign', which is not move BOARD CELL." in told
    assert "so few could have found no difference of less than 50 points." in told


HOSTILE = [
    b"",
    b"{",
    b"[" * 100_000,
    b'{"forfeit": ["\\ud800"]}',
    b'{"forfeit": "' + b"x" * 5000 + b'\\ud800"}',
    b'{"move": 1}',
    b'{"move": Infinity, "wall": 0, "processor": 0, "nodes": 0, "depth": 0}',
    b'{"move": 1, "wall": NaN, "processor": 0, "nodes": 0, "depth": 0}',
    b'{"move": 1, "wall": 0, "processor": -1, "nodes": 0, "depth": 0}',
    b'{"move": 1, "wall": 0, "processor": 0, "nodes": 1' + b"0" * 400 + b', "depth": 0}',
    b'{"move": true, "wall": 0, "processor": 0, "nodes": 0, "depth": 0}',
    b'{"move": "1", "wall": 0, "processor": 0, "nodes": 0, "depth": 0}',
    b'{"move": 99, "wall": 0, "processor": 0, "nodes": 0, "depth": 0}',
    b'{"move": 1, "wall": 0, "processor": 0, "nodes": 0, "depth": 0}\n{}',
]


@pytest.mark.parametrize("line", HOSTILE)
def test_whatever_the_process_of_an_agent_says_it_is_a_forfeit_at_most(line, monkeypatch):
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(agent_processes.AgentProcess, "_start", lambda self: None)
    played = ULTIMATE
    agent = agent_processes.AgentProcess(played, "random", 1.0, "wall")
    agent._process, agent._socket, agent._rest = Ended, ours, b""
    with theirs:
        theirs.sendall(line + b"\n")
        with pytest.raises(agent_processes.ForfeitError) as told:
            agent.choose(played.start())
        assert len(str(told.value)) < 1100 and str(told.value).encode()
        ours.close()


class Ended:
    """A process that is gone."""

    pid = 1 << 30
    wait = staticmethod(lambda: 0)


def test_a_program_that_dies_at_the_start_of_games_loses_them(program):
    played, _ = play(f"engine:program={program('never')}", games=2)
    assert [one.winner for one in played] == [1, 1] and all("has ended" in one.forfeit for one in played)


@pytest.mark.parametrize("mode", ["burns", "burns-in-children"])
def test_the_processor_time_of_the_program_and_its_children_counts(program, mode):
    _, costs = play(f"engine:program={program(mode)}", games=1)
    assert np.median(costs) > 0.018
    if mode == "burns-in-children":
        limited, _ = play(f"engine:program={program(mode)},time=0.01", games=1, limit=0.015, clock="processor")
        assert limited[0].winner == 1 and "the limit is 0.015 s" in limited[0].forfeit


def test_no_process_is_left_behind(program):
    one = agent(f"engine:program={program('codingame')},protocol=codingame")
    one.seat(game("ultimate:most"))
    processes = []
    for number in range(3):
        one.begin(number)
        one.choose(game("ultimate:most").start())
        processes.append(one._process._process.pid)
    assert len(set(processes)) == 3
    del one
    for process in processes:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_what_an_engine_cannot_do_is_told_before_the_match(program):
    for text, of, sentence in [
        ("engine", "ultimate", "needs a program"),
        ("engine:program=/nowhere", "ultimate", "There is no program /nowhere"),
        (f"engine:program={program('lines')}", "ultimate:open", "plays ultimate only"),
        (f"engine:program={program('codingame')},protocol=codingame", "ultimate", "plays ultimate:most only"),
        (f"engine:program={program('lines')},protocol=ucci", "ultimate", r"no protocol 'ucci' \(did you mean uci\?\)"),
        ("engine:program=x,patience=0", "ultimate", "patience of engine must be above zero"),
    ]:
        with pytest.raises(ArenaError, match=sentence):
            agent(text).seat(game(of))
    with pytest.raises(ArenaError, match="must make all its moves itself"):
        Match("ultimate:most", ("engine:program=x,protocol=codingame", "random"), 2, opening=2)
    bot = agent(f"engine:program={program('codingame')},protocol=codingame")
    bot.seat(game("ultimate:most"))
    bot.begin(0)
    with pytest.raises(ArenaError, match="must make all its moves itself"):
        bot.choose(game("ultimate:most").after([0, 1]))


def test_a_position_is_what_the_plain_rules_say():
    for seed in range(8):
        _, moves = naive.random_game(seed)
        position, state = naive.Position(), ULTIMATE.start()
        for move in moves[:-1]:
            position.make(*divmod(move, 9))
            state = ULTIMATE.play(state, move)
            cells, target, mover = position_text(state).split()
            assert cells == "".join(map("".join, position.boards)) and mover == position.to_move
            boards = {board for board, _ in position.moves()}
            assert (target == "-" and boards != {position.sent_to}) or boards == {int(target)}
