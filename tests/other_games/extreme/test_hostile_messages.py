"""Whatever a bot's process sends, the referee raises nothing but a forfeit; and no bot can look like the machine."""

import os
import platform
import random
from collections import Counter
from pathlib import Path

import pytest

from pttt_ooc.course.agents.walled_agent import WalledAgent
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.matches import agent_processes
from pttt_ooc.other_games.extreme import match, source_client, walled_process
from pttt_ooc.other_games.extreme.bot_process import BotForfeitError, Conditions, shown_move
from pttt_ooc.other_games.extreme.match import play_match
from pttt_ooc.other_games.extreme.referee import Referee
from pttt_ooc.other_games.extreme.walled_process import MachineError, plain
from tests.kits.patience import wait_until
from tests.other_games.extreme.bot_kit import FIRST, bot
from tests.other_games.extreme.hostile import framed, framed_json, hostile_bytes, process_that_says
from tests.other_games.extreme.test_extreme_attacks import FORGED, REASON, attack, lost


@pytest.fixture
def process(monkeypatch):
    found = process_that_says(monkeypatch)
    yield found
    found.end()


STARTED = framed_json({"started": [3, 11, 0], "listener": None})


def storable(text):
    """What a database and a page can hold."""
    assert isinstance(text, str) and "\0" not in text and text.encode().decode() == text
    return text


@pytest.mark.parametrize("seed", range(3))
def test_no_answer_to_a_question_is_more_than_a_forfeit(process, seed):
    draw, referee, messages = random.Random(seed), Referee(), Counter()
    boards = {"big": [*referee.board.big_boards_status], "small": [*referee.board.small_boards_status]}
    for number in range(1, 1501):
        process.enclosed.say(hostile_bytes(draw, number))
        try:
            answer, _ = process.ask({"moves": []})
            storable(shown_move(answer))
            if draw.random() < 0.5:  # the rest of its answer is as it should be
                answer |= boards
            cell = match._check_answer(answer, referee.board)
            if not Referee().play(cell):
                raise BotForfeitError("INVALID MOVE", plain(cell))
            messages["move"] += 1
        except BotForfeitError as error:
            assert len(storable(error.detail)) <= 4000
            messages[error.message] += 1
    assert {*messages} - {"move"} == {"THREW AN EXCEPTION", "MODIFIED THE BOARD", "INVALID MOVE"}
    assert messages["INVALID MOVE"] > 20 and messages["move"] < 100


@pytest.mark.parametrize("number", ["true", "1.0", '"1"', "[1]", "2", "1e400", "null"])
def test_the_number_of_an_answer_is_a_whole_number_and_the_right_one(process, number):
    process.enclosed.say(framed(b'{"number": %s, "move": [0, 4, 4]}' % number.encode()))
    with pytest.raises(BotForfeitError) as told:
        process.ask({"moves": []})
    assert told.value.detail == "It answered before it was asked."


def test_no_second_message_while_a_bot_is_loaded_is_more_than_a_forfeit(process):
    draw, ready = random.Random(7), 0
    for _ in range(1500):
        process.enclosed.say(STARTED + hostile_bytes(draw))
        try:
            process.load()
            ready += 1
        except BotForfeitError as error:
            storable(error.detail)
    assert 0 < ready < 1500
    assert all("listening" not in message for message in process.enclosed.heard)


def test_before_the_program_begins_all_is_our_own_fault(process, monkeypatch):
    draw, failed = random.Random(8), 0
    monkeypatch.setattr("tests.other_games.extreme.hostile.Said.listen", walled_process.Enclosed.listen)
    process.enclosed._process = -1
    for _ in range(300):
        first = hostile_bytes(draw)
        process.enclosed.say(first + framed_json({"error": "mine"}))
        with pytest.raises((MachineError, BotForfeitError)) as told:
            process.load()
        failed += told.type is MachineError
        assert told.type is MachineError or told.value.message == "THREW AN EXCEPTION"
    assert failed > 50


def test_what_an_agent_answers_is_a_move_or_loses_its_game(process):
    draw, played, moves = random.Random(9), game("mnk:3x3+need3"), 0
    agent = WalledAgent(played, bot(), Conditions(walls=False))
    for number in range(1, 1001):
        agent._process, agent.forfeit = process, None
        process.enclosed.say(hostile_bytes(draw, number))
        try:
            chosen = agent.choose(played.start())
            assert type(chosen.move) is int and 0 <= chosen.move < played.rules.MOVES
            moves += 1
        except agent_processes.ForfeitError as error:
            storable(str(error))
            assert agent.forfeit is not None
            for words in agent.forfeit:
                storable(words)
    assert 0 < moves < 500


def test_words_that_cannot_be_shown_or_stored_are_words_all_the_same():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert plain(deep) == "something that is nested too deeply to be shown"
    assert storable(plain("a\ud800\0b")) and plain("x" * 9, 4) == "xxxx"
    assert shown_move({"move": "\ud800"}) == "?" and shown_move({"shown": [1], "move": 2}) == "[1]"


def test_a_signal_without_a_name_is_told_by_its_number():
    assert [walled_process._ending(code) for code in (3, -9, -40)] == [
        "with the code 3",
        "by the signal SIGKILL",
        "by the signal 40",
    ]


# ---------------------------------------------------------------------------------------------
# Real bots

needs_walls = pytest.mark.skipif(bool(REASON), reason=REASON or "there are walls")
LISTENERS = [999, "x", [], -1, 1 << 40, True]
LOWERED = """
    import ctypes, resource
    if len([cell for row in board.big_boards_status[0] for cell in row if cell != "-"]) > 3:
        KILL
        while True: pass
    return board.find_valid_move_cells(old_move)[0]
"""
KILLS = {  # with equal limits, the kernel ends a process with SIGKILL, as somebody else may
    "resource": "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))",
    "the system call": "b = (ctypes.c_ulong * 2)(1, 1); libc = ctypes.CDLL(None); "
    "libc.syscall.argtypes = [ctypes.c_long] + [ctypes.c_ulong] * 2 + [ctypes.c_void_p] * 2; "
    "libc.syscall(NUMBER, 0, 1 << 32, ctypes.addressof(b), None)",
    "by its number's other half": "b = (ctypes.c_ulong * 2)(1, 1); libc = ctypes.CDLL(None); "
    "libc.syscall.argtypes = [ctypes.c_long] + [ctypes.c_ulong] * 2 + [ctypes.c_void_p] * 2; "
    "libc.syscall(NUMBER, 0, 3 << 32, ctypes.addressof(b), None)",
}


@needs_walls
@pytest.mark.slow_but_one
@pytest.mark.parametrize("listener", LISTENERS)
def test_a_forged_listener_is_a_forfeit_when_the_bot_is_loaded(listener):
    """The bot of six lines that stopped a tournament for ever."""
    forged = [{"ready": True, "listener": listener}]
    found = attack(FIRST, before=FORGED.format(messages=forged, then=""))
    assert lost(found) and found.detail == "It answered before it was asked." and not found.broken_off


@needs_walls
@pytest.mark.slow_but_one
@pytest.mark.parametrize("how", KILLS)
def test_a_bot_that_lets_the_kernel_kill_it_in_mid_game_is_no_fault_of_the_machines(how):
    """A time bomb, which passes the check."""
    number = {"x86_64": 302, "aarch64": 261, "riscv64": 261}.get(platform.machine())
    if number is None:
        pytest.skip("the number of the system call is not known here")
    found = attack(LOWERED.replace("KILL", KILLS[how].replace("NUMBER", str(number))), time_limit=1.5)
    assert lost(found) and found.plies > 3 and not found.broken_off
    assert found.message in ("THREW AN EXCEPTION", "TIME OUT") and "SIGKILL" not in found.detail


@needs_walls
def test_a_bot_may_read_its_limits_and_change_that_of_its_stack():
    body = """
        import resource
        for kind in (resource.RLIMIT_CPU, resource.RLIMIT_AS, resource.RLIMIT_STACK):
            resource.getrlimit(kind)
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))
        return board.find_valid_move_cells(old_move)[0]
    """
    found = attack(body)
    assert found.message == "WON", found.detail


@pytest.fixture(params=["looked at before", "gone before"])
def ended(request, monkeypatch):
    """What ends by itself does so at any time after its beginning; the referee may see no process any more."""
    really = os.pidfd_open

    def late(pid):
        wait_until(lambda: not Path(f"/proc/{pid}").exists())
        return really(pid)

    if request.param == "gone before":
        monkeypatch.setattr(os, "pidfd_open", late)


@pytest.mark.usefixtures("ended")
def test_a_python_that_does_not_start_is_the_machines_fault(tmp_path, monkeypatch):
    broken = tmp_path / "runner.py"
    broken.write_text("raise SystemExit(3)\n")
    monkeypatch.setattr(
        "pttt_ooc.other_games.extreme.match.BotProcess.__init__.__defaults__", (None, (broken,), None, 162)
    )
    with pytest.raises(MachineError, match="Python does not start for a bot on this machine: .* the code 3"):
        play_match((bot(), bot(file="team2.py")), Conditions(walls=False))


@pytest.mark.usefixtures("ended")
def test_a_reader_that_fails_is_the_machines_fault_and_no_fault_of_the_file(tmp_path, monkeypatch):
    broken = tmp_path / "source_reader.py"
    broken.write_text("import sys\nprint('no memory')\nsys.exit(3)\n")
    monkeypatch.setattr(source_client, "READER", broken)
    with pytest.raises(
        MachineError, match="reads bots' files failed. Its process ended with the code 3. It said: no memory"
    ):
        source_client.read(b"# a file that nobody has read before", False)
