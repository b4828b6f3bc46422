"""Playing and exploring on a terminal: through a pseudo-terminal as over ssh, and line by line in this process."""

import io
import os
import random
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from pttt_ooc.config import SolveConfig
from pttt_ooc.disk.numbers import decimals
from pttt_ooc.errors import ConfigError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import tic_tac_toe
from pttt_ooc.library.api.strategies import Strategy
from pttt_ooc.library.api.values import best_response, evaluate
from pttt_ooc.pipeline.files.equilibrium import Support, write_supports
from pttt_ooc.pipeline.show.dialogue import Dialogue
from pttt_ooc.pipeline.stages import solve
from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.site.explore.local_opponents import LocalOpponents, Pair
from pttt_ooc.site.explore.sources import Source, with_run
from pttt_ooc.site.explore.terminal_explore import explore
from pttt_ooc.site.explore.terminal_play import keypad_key, play
from tests.kits import naive
from tests.kits.equilibria import settled
from tests.kits.patience import PATIENCE
from tests.kits.terminals import MAIN, plain

ROOT = Path(__file__).parents[3]
GAME = "mini-2x3k2-abrupt"


@pytest.fixture(scope="module", autouse=True)
def compiled():
    ensure_compiled()


@pytest.mark.slow
def test_a_whole_game_on_a_terminal(terminal):
    """Bad input at every prompt, a game to its end, the look back, another game, Ctrl-C in the middle of a line."""
    shell = terminal("web", "--play", "--terminal", "uniform", "--game", GAME, "--player", "1")
    begin = shell.until(r" >")
    assert "You are player 1 (o), against uniform." in begin and "[4]" in begin
    for bad, sentence in (
        ("7", "is not a key of a square"),
        ("", "An empty line"),
        ("s9", "'s9' is not a key"),
        ("é", "is not a key"),
    ):
        assert sentence in shell.type(bad)
    assert "Give this game up" in shell.type("r") and "Attempt 1" in shell.type("no")
    shown, attempts = "", 0
    while "Enter: on" not in shown:
        free = re.findall(r"\[(\d)\]", shown or begin)
        shown = shell.type(free[0])
        attempts += 1
        assert re.search(r"Square \d: (placed|failed)", shown)
        if "Enter: on" not in shown:
            assert "already" in shell.type(free[0]).replace("\r\n", " ")
    assert re.search(r"You have (won|lost)\.|A draw", shown) and "the true board" in shown and "The end." in shown
    assert "type one of these numbers" in shell.type("77") and "type one of these numbers" in shell.type("-")
    step = shell.type("2")
    assert "Attempt 2 of" in step and "best" in step and "yours" in step and "the opponent is there" in step
    assert "It does so with probability" in shell.type("b") and "Attempt 2 of" in shell.type("")
    told = plain(shell.told).replace("\r", "")
    assert max(map(len, told[told.index(GAME) :].split("\n"))) <= 80
    assert "Attempt 1 at |" in shell.type("n")
    os.write(shell.own, b"half a li")
    code, last = shell.end(b"\x03")
    assert code == 130 and "lost" in last and "Exact averages against uniform" in last and "Traceback" not in shell.told


@pytest.mark.slow
def test_exploring_on_a_terminal(terminal):
    shell = terminal("web", "--terminal", "uniform", "--game", GAME)
    assert "value 0.5501, with the best response from here on 0.8667" in shell.until(r" >")
    assert "placed 0, found 4 occupied" in shell.type("0*4.")
    assert "square 0 is attempted twice" in shell.type("0*").replace("\r\n", " ")
    beliefs = shell.type("b")
    assert "x.. / .o.   1.0000" in beliefs and "2 with 1.000" in beliefs
    assert "Player 0 at |0* >" in shell.type("u")
    assert "Player 1 at | >" in shell.type("p")
    assert "nothing to undo" in shell.type("u")
    code, last = shell.end(b"\x04")
    assert code == 0 and "Goodbye." in last and "Traceback" not in shell.told


def say(monkeypatch, lines, what, *arguments):
    """What is printed if a person types these lines."""
    printed = io.StringIO()
    monkeypatch.setattr("sys.stdin", lines if hasattr(lines, "readline") else io.StringIO(lines))
    dialogue = Dialogue()
    dialogue.console.file = printed
    return what(*arguments[:1], *arguments[1:], dialogue), printed.getvalue()


@pytest.fixture(scope="module")
def pair():
    return Pair(("uniform", "uniform"), GAME)


def test_the_opponent_plays_its_best_response_and_its_strategy_again(monkeypatch, pair):
    _, told = say(monkeypatch, "o\no\no\np\nq\n", explore, pair, 0)
    values = re.findall(r"^value (\S+),", told, re.MULTILINE)
    reply = evaluate(Strategy.uniform(pair.game, 0), best_response(Strategy.uniform(pair.game, 0))).value
    assert values == ["0.5501", f"{reply:.4f}", "0.5501", f"{reply:.4f}", values[-1]] and values[-1] != f"{-reply:.4f}"
    assert "player 1 is best response to uniform." in told.replace("\n", " ")


def test_either_player_plays_its_best_response_and_keeps_doing_so_on_the_other_board(monkeypatch, pair):
    _, told = say(monkeypatch, "r\np\nr\nr\no\nq\n", explore, pair, 0)
    values = [float(value.replace("−", "-")) for value in re.findall(r"^value (\S+),", told, re.MULTILINE)]
    plain = [Strategy.uniform(pair.game, player) for player in (0, 1)]
    best = [best_response(plain[1 - player]) for player in (0, 1)]
    uniform, first, both = (evaluate(*two).value for two in (plain, (best[0], plain[1]), best))
    assert values == pytest.approx([uniform, first, -first, -both, -first, -uniform], abs=5e-5)
    assert "Player 0 is best response to uniform, player 1 is best response to uniform." in told.replace("\n", " ")


def test_mirror_images_are_merged_on_the_terminal(monkeypatch, pair):
    _, told = say(monkeypatch, "m\n0*\nb\nm\nq\n", explore, pair, 0)
    apart, first, after, again = re.split(r"^Player 0 \(.\): ", told, flags=re.MULTILINE)[1:]
    assert "=" not in apart and "Mirror images" not in apart  # the first infoset is its own image
    board = first[: first.index("reach")]
    assert "0.6667" in board and board.count("=0") == 3 and "0.3333" in board and board.count("=1") == 1
    rows = dict(re.findall(r"^ *(\d[\d, ]*\d) +([\d.]+) ", first, re.MULTILINE))
    assert rows == {"0, 2, 3, 5": "0.6667", "1, 4": "0.3333"}
    assert "Merged with its mirror images: |2*  |3*  |5*" in after and "Mirror images: |2*  |3*  |5*" in again
    assert "reach: own 0.6667" in after and "reach: own 0.1667" in again
    assert re.search(r"^5 ", after, re.MULTILINE) and "given |0*" in after


@pytest.mark.parametrize("known", [True, False])
def test_supports_are_told_on_the_terminal(monkeypatch, tmp_path, known):
    # The support of one equilibrium stands for that of all of them.
    game, plans = named_game(GAME), settled(GAME).plans
    if known:
        (tmp_path / GAME / "full").mkdir(parents=True)
        write_supports(tmp_path / GAME / "full", game, plans)
    support = Support(game, plans)
    monkeypatch.setattr("pttt_ooc.site.explore.local_opponents.data_directory", lambda: tmp_path)
    never = next(
        text for text in naive.infosets(game, 1) if support.played_squares(1, tuple(naive.attempts(text))) is None
    )
    pair = Pair(("uniform", "uniform"), GAME).with_reply(0)
    seen = set()
    for player, text in ((0, "|"), (1, "|"), (1, "|0*"), (1, never)):
        _, told = say(monkeypatch, f"{text}\nq\n", explore, pair, player)
        board, shown = told[told.rindex(f"Player {player} (") :].split("In the support of this strategy: ")
        own, *rest = " ".join(shown.split()).split(". ")
        probabilities = pair.strategies[player][text]
        assert own == squares_of([square for square, p in enumerate(probabilities.tolist()) if p > 0])
        squares = support.played_squares(player, tuple(naive.attempts(text))) if known else None
        assert board.count("*") == len(squares or ())
        if not known:
            assert (
                rest[0] == "`pttt lab equilibria --game mini-2x3k2-abrupt` finds which squares some equilibrium plays"
            )
        elif squares is None:
            assert rest[0] == "Between equilibrium strategies no game gets here"
        else:
            assert rest[0] == f"In the support of some equilibrium (*): {squares_of(squares)}"
        seen.add((player, squares is None, int((probabilities > 0).sum()) < 3))
    assert not known or {(0, False, True), (1, False, False), (1, True, False)} <= seen


def squares_of(squares):
    """Squares as a sentence names them."""
    *most, last = squares
    return f"squares {', '.join(map(str, most))} and {last}" if most else f"square {last}"


@pytest.mark.slow
def test_iterations_that_a_run_has_kept(monkeypatch, tmp_path):
    solved = prepare_index(tmp_path, GAME, "full")
    solve.run(GAME, "full", SolveConfig(target_nashconv=0, max_iterations=9, snapshot_every=2), solved, 2)
    name = str(solved)
    run = with_run(Source("", name, name, ""))
    _, told = say(
        monkeypatch, "i\ni 3\ni 4\ni 9\np\nq\n", lambda dialogue: explore(Pair((name, name), None), 0, dialogue, [run])
    )
    values = [
        evaluate(*(Strategy.read(place, p) for p in (0, 1))).value for place in (name, solved / "snapshots/4.zarr")
    ]
    shown = re.findall(r"^value (\S+),", told, re.MULTILINE)
    assert shown[:3] == [decimals(value, 4) for value in (values[0], values[1], values[0])]
    assert len(shown) == 4 and shown[0] != shown[1]
    assert "No strategies were kept after iteration 3." in told and re.search(
        r"1: [\d.]+, 2: .*, 9: ", told.replace("\n", " ")
    )
    _, told = say(monkeypatch, "i 1\nq\n", explore, Pair(("uniform", "uniform"), GAME), 0)
    assert "No earlier strategies were kept of this run." in told


def test_playing_against_a_best_response(monkeypatch, pair):
    found = LocalOpponents(pair.with_reply(1), 1)
    assert found.opponent.name == "best response to uniform"
    reply = best_response(Strategy.uniform(pair.game, 0))
    assert found.probabilities(found.opponent, "|0.") == pytest.approx(reply["|0."].tolist())
    _, told = say(monkeypatch, "r\ny\nq\n", play, found)
    best, value = found.expectations(found.opponent)
    assert value.value == pytest.approx(-reply.value) and best.value > value.value
    assert "best response to uniform" in told.replace("\n", " ")


def test_the_browser_leaves_the_choice_of_the_opponent_to_the_page():
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "web", "--play", "uniform", "--best-response", "--game", GAME],
        **{"capture_output": True, "cwd": ROOT, "text": True},
        timeout=PATIENCE,
    )
    assert done.returncode == 1 and "--best-response and --keypad are for --play --terminal" in done.stderr.replace(
        "\n", " "
    )


class Stopped(io.StringIO):
    """Input that ends with Ctrl-C."""

    def readline(self, *arguments):
        line = super().readline(*arguments)
        if not line:
            raise KeyboardInterrupt
        return line


@pytest.mark.parametrize(("kind", "code"), [(io.StringIO, 0), (Stopped, 130)])
@pytest.mark.parametrize("lines", ["", "4\n", "4\nr\n", "r\ny\n", "r\ny\n1\n", "?\nx\n"])
def test_every_prompt_of_a_game_can_be_left(monkeypatch, pair, lines, kind, code):
    ended, told = say(monkeypatch, kind(lines), play, LocalOpponents(pair, 1))
    assert ended == code and "Traceback" not in told
    assert told.rstrip().endswith(".")


@pytest.mark.parametrize(("kind", "code"), [(io.StringIO, 0), (Stopped, 130)])
@pytest.mark.parametrize("lines", ["", "0*\n", "hello\nb\n"])
def test_every_prompt_of_exploring_can_be_left(monkeypatch, pair, lines, kind, code):
    ended, told = say(monkeypatch, kind(lines), explore, pair, 0)
    assert ended == code and told.endswith("Goodbye.\n")


def test_malformed_lines_get_a_sentence_each(monkeypatch, pair):
    rng = random.Random(1)
    lines = ["".join(rng.choice("0123456789*.|sbx \t-é☃\x1b\0") for _ in range(rng.randrange(12))) for _ in range(150)]
    lines = [line for line in lines if not line.strip() or not any(line.strip() == word for word in "qr")]
    for what, arguments in ((play, (LocalOpponents(pair, 1),)), (explore, (pair, 0))):
        ended, told = say(monkeypatch, "\n".join(lines) + "\n" + "9" * 5000 + "\n", what, *arguments)
        assert ended == 0 and "Traceback" not in told


def test_a_square_is_typed_as_its_number_or_with_keypad_as_on_one(monkeypatch):
    game = Pair(("uniform", "uniform"), "mini-3x2k2-abrupt")
    for typed, keypad, square in (("4", False, 4), ("0", False, 0), ("1", True, 4), ("7", True, 0), ("s4", True, 4)):
        opponents = LocalOpponents(game, 1)
        _, told = say(monkeypatch, f"{typed}\nr\ny\nq\n", partial(play, keypad=keypad), opponents)
        assert f"Square {square}: placed." in told and ("keypad" in told) == keypad
        board = told[: told.index("Attempt 1")]
        assert re.findall(r"\[(\d)\]", board) == (list("784512") if keypad else list("012345"))


def test_a_board_that_is_larger_than_a_keypad_is_told():
    assert [keypad_key(named_game("pttt-abrupt"), square) for square in (0, 4, 8)] == ["7", "5", "3"]
    for game in (tic_tac_toe("wide", 2, 5, 3, "abrupt"), tic_tac_toe("high", 4, 2, 3, "abrupt")):
        with pytest.raises(ConfigError, match="leave out --keypad"):
            keypad_key(game, 0)


def test_the_value_of_what_is_printed_at_the_end(monkeypatch, pair):
    _, told = say(monkeypatch, "r\ny\nn\nr\ny\nq\n", play, LocalOpponents(pair, 1))
    assert "Won 0, drawn 0, lost 2; mean −1.000 (standard error 0.000)." in told
    assert "the best response 0.86667, uniform 0.55012." in told


@pytest.mark.slow
def test_a_terminal_without_colours_and_unicode_can_be_used(terminal):
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "web", "--play", "--terminal", "uniform", "--game", GAME],
        **{"input": b"4\n\xff\xfe\nq\n", "capture_output": True, "cwd": ROOT},
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii", "TERM": "dumb"},
        timeout=PATIENCE,
    )
    told = done.stdout.decode("ascii")
    assert done.returncode == 0 and done.stderr == b"" and "Square 4" in told and "not a key of a square" in told
