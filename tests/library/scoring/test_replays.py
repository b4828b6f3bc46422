"""Replays of other programs: what is told of them is true, and strangers' files end in one sentence.

The files in replays/ are of random players.  `dark_hex.json`, `dark_hex_illegal.json` (abrupt; the last action is
illegal) and `ultimate.json` are episodes of kaggle-environments 1.33.2 with OpenSpiel 2.0.1, `env.toJSON()` without
`specification`, observations and all steps and states but the last; `phantom_ttt.txt` is OpenSpiel's serialisation.
`ultimate_2_0.txt` is one of OpenSpiel 2.0 that begins with the moves of its pull request 1567, and
`ultimate_2_0_board.txt` the state that this version prints at its end.
"""

import json
import math
import random
from pathlib import Path

import pytest

from pttt_ooc.errors import ReplayError
from pttt_ooc.exact.certificates import certificate
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.play import replay as replay_history
from pttt_ooc.library.scoring import replays
from pttt_ooc.library.scoring.opponents import PlanOpponents
from pttt_ooc.library.scoring.replay_judge import judge_replay, phantom_game_of
from pttt_ooc.library.scoring.replays import Replay, parse_replay, read_replay
from pttt_ooc.other_games.arena.games.ultimate import Ultimate
from pttt_ooc.other_games.arena.research.solvers import openspiel_replays
from pttt_ooc.other_games.arena.research.solvers.endings import EndingSolver
from pttt_ooc.other_games.arena.research.solvers.openspiel_replays import judge_ultimate
from tests.kits.cli_runner import Runner

FILES = Path(__file__).parent / "replays"
PROOFS = Path(__file__).parents[3] / "proof"


AFTER_15 = """ooo .x. xx.
x.. o.. ...
... ... ...

x.. ... x..
o.. ... ...
.x. ... ...

... ... ...
... ..o ...
... ... ...

Current player: 1
Forced board: 1"""  # as OpenSpiel 2.0.2 prints it


def opponents(name):
    return PlanOpponents.of_certificate(certificate.read(PROOFS / f"{name}.txt.gz"))


def test_an_episode_of_dark_hex_and_what_its_attempts_lost():
    replay = read_replay(FILES / "dark_hex.json")
    game = phantom_game_of(replay)
    assert (game.name, replay.actions[:3], replay.rewards) == ("dark-hex-3x3-classical", (2, 1, 5), (-1.0, 1.0))
    history, known = replay_history(game, replay.actions), opponents(game.name)
    judged = judge_replay(replay, game, known)
    assert judged.result == f"is won by player {history.winner}" and history.winner == 1
    assert [(m.player, m.move) for m in judged.moves] == [(a.player, str(a.square)) for a in history.attempts]
    assert [m.outcome in ("placed", "wins") for m in judged.moves] == [a.placed for a in history.attempts]
    assert judged.moves[-1].outcome == "wins" and all(m.legal for m in judged.moves)
    for move in judged.moves:
        marks = known.marks(move.player, move.infoset)
        assert (move.loss is None) == math.isnan(marks.sum()) and (move.fails is None) == (move.loss is None)
        if move.loss is not None:
            lost = known.value(move.player, move.infoset) - known.attempt_value(
                move.player, move.infoset, int(move.move)
            )
            assert move.loss == pytest.approx(lost, abs=1e-12) and move.loss >= 0
            assert move.fails == pytest.approx(marks[int(move.move)])
    # Player 0 wins from the centre for certain, so that another first attempt may lose what it gives away.
    assert judged.moves[0].loss is not None and judged.moves[0].fails == 0
    without = judge_replay(replay, game, None)
    assert all(m.loss is None and m.marks is None for m in without.moves) and not without.remarks


def test_an_illegal_action_is_told_as_the_environment_tells_it_and_as_the_rules_do():
    replay = read_replay(FILES / "dark_hex_illegal.json")
    game = phantom_game_of(replay)
    known = opponents("dark-hex-3x3-abrupt")
    judged = judge_replay(replay, game, known)
    assert game.name == "dark-hex-3x3-abrupt" and judged.result == "is not over" and len(judged.moves) == 4
    assert judged.remarks[0] == "Player 0 submitted '4', which was not accepted."
    wrong = judge_replay(Replay("x", "dark_hex", {}, (4, 0, 4, 1)), game, None)
    assert [m.legal for m in wrong.moves] == [True, True, False]
    assert wrong.remarks[0].startswith("Attempt 3: player 0 cannot attempt square 4 at '|4*'; what follows")
    never = judge_replay(Replay("x", "dark_hex", {}, (4, 4, 4)), game, known)
    assert [m.legal for m in never.moves] == [True, True, False] and never.moves[1].loss is not None
    assert len(never.remarks) == 1, "an illegal move has no loss that could be missed"
    longer = Replay("x", "dark_hex", {}, (*replay_history(game, (4, 0, 1, 3, 7)).game.setup[0], 4, 0, 1, 3, 7, 5))
    assert "The game is over after 5 attempts, but the file has 6." in judge_replay(longer, game, None).remarks
    lying = Replay("x", "dark_hex", {}, (4, 0, 1, 3, 7), rewards=(-1.0, 1.0))
    assert judge_replay(lying, game, None).remarks == (
        "The file says that the players got -1 and +1, but by the rules they get +1 and -1.",
    )


def test_openspiels_own_serialisation_and_games_without_a_counterpart():
    replay = read_replay(FILES / "phantom_ttt.txt")
    game = phantom_game_of(replay)
    history = replay_history(game, replay.actions)
    assert game.name == "pttt-abrupt" and history.is_terminal
    assert judge_replay(replay, game, None).result == "is won by player 0" and history.winner == 0
    header = "# Automatically generated by OpenSpiel SerializeGameAndState\n[Game]\n{}\n[State]\n4\n4\n"
    assert phantom_game_of(parse_replay(header.format("phantom_ttt()").encode(), "x")).name == "pttt-classical"
    proxy = header.format("dark_hex_proxy(num_rows=2,num_cols=3)").replace("4\n4\n", "history=0:4,1:1\nmove_number=2\n")
    found = parse_replay(proxy.encode(), "x")
    assert found.actions == (4, 1) and phantom_game_of(found).name == "dark-hex-2x3-classical"
    for text, problem in (
        ("dark_hex(board_size=5)", "5 rows and 5 columns has more than the 16 squares"),
        ("dark_hex(num_rows=0)", "There is no game dark-hex-0x3-classical"),
        ("phantom_ttt(gameversion=new)", "There is no game pttt-new"),
        ("dark_hex(obstype=reveal-numturns)", "players see more than whether"),
    ):
        with pytest.raises(ReplayError, match=problem):
            phantom_game_of(parse_replay(header.format(text).encode(), "x"))
    assert phantom_game_of(Replay("x", "chess", {}, ())) is None


def test_details_of_files_are_read_as_they_are_meant():
    episode = json.loads((FILES / "dark_hex_illegal.json").read_text())
    replay = parse_replay(b"\xef\xbb\xbf" + json.dumps(episode).encode(), "x")  # with a byte order mark
    assert (
        replay.refused.player == 0 and parse_replay(json.dumps(episode | {"steps": []}).encode(), "x").refused is None
    )
    [*_, last] = episode["steps"]
    swapped = json.dumps(episode | {"steps": [last[::-1]], "rewards": [1, -1, 0]}).encode()
    assert (parse_replay(swapped, "x").refused.player, parse_replay(swapped, "x").rewards) == (1, None)
    longer = episode["info"] | {"stateHistory": ["the first state", "the last one"]}
    assert parse_replay(json.dumps({"info": longer}).encode(), "x").board == "the last one"
    header = "# Automatically generated by OpenSpiel SerializeGameAndState\n"
    with pytest.raises(ReplayError, match=r"its parts \[Game\] and \[State\] are missing"):
        parse_replay(f"{header}[State]\n4\n[Game]\ndark_hex()\n".encode(), "x")
    for told, name in ({}, "3x3"), ({"board_size": "4"}, "4x4"), ({"num_rows": "2"}, "2x3"):
        assert phantom_game_of(Replay("x", "dark_hex", told, ())).name == f"dark-hex-{name}-classical"


def test_an_episode_of_ultimate_with_exact_losses_at_its_end():
    replay = read_replay(FILES / "ultimate.json")
    judged = judge_ultimate(replay)
    game = Ultimate()
    state = game.after(game.read_move(move.move) for move in judged.moves)
    assert judged.result == "is won by player 1" and replay.rewards == (-1.0, 1.0) and not game.legal(state)
    assert sum(m.move == "0.1" for m in judged.moves[:1]) == 1, "the first two actions are one move"
    assert judged.remarks == (openspiel_replays._REMARK,), "nothing disagrees, and the version does not matter"
    solved = [n for n, move in enumerate(judged.moves) if move.loss is not None]
    assert solved == list(range(solved[0], len(judged.moves))) and len(solved) == 4
    last = judged.moves[-1]
    assert last.outcome == "wins" and last.loss == 0
    before = game.after(game.read_move(move.move) for move in judged.moves[: solved[2]])
    values, move = EndingSolver(18).values(before), game.read_move(judged.moves[solved[2]].move)
    assert judged.moves[solved[2]].loss == max(values.values()) - values[move]


def test_the_older_openspiels_wrong_marks_are_told():
    """In the moves of pull request 1567, the player who chooses small board 2 gets the other player's mark."""
    replay, wrong = read_replay(FILES / "ultimate_2_0.txt"), "placed the other player's mark at move 13, for which"
    board = (FILES / "ultimate_2_0_board.txt").read_text()
    # From the wrong mark on it is another game: an action of it is illegal by the rules.
    for shown in ("", board):
        told = judge_ultimate(Replay("x", replay.game, {}, replay.actions, board=shown)).remarks
        assert "Action 72: player 0: small board 6 cannot be chosen" in told[0]
        assert told[1].startswith("An OpenSpiel before 2.0.1 made this file: it " + wrong)
    other = judge_ultimate(Replay("x", replay.game, {}, replay.actions, board=board.replace("x", "o"))).remarks
    assert other[1].startswith("If an OpenSpiel before 2.0.1 made this file, it " + wrong)
    first = judge_ultimate(Replay("x", replay.game, {}, replay.actions[:15]))
    assert len(first.moves) == 13 and first.remarks[0].startswith("If an OpenSpiel before 2.0.1 made this file, it")
    right = judge_ultimate(Replay("x", replay.game, {}, replay.actions[:15], board=AFTER_15)).remarks
    board = AFTER_15.replace("xx.", "xo.")
    older = judge_ultimate(Replay("x", replay.game, {}, replay.actions[:15], board=board)).remarks
    assert not any("2.0.1" in remark for remark in right) and older[0].startswith("An OpenSpiel before 2.0.1 made")
    assert not any("2.0.1" in remark for remark in judge_ultimate(Replay("x", replay.game, {}, (0, 3, 3))).remarks)
    illegal = judge_ultimate(Replay("x", replay.game, {}, (0, 3, 9)))
    assert [m.legal for m in illegal.moves] == [True, False] and "cell 9 of small board 3" in illegal.remarks[0]
    assert "small board 9 cannot be chosen" in judge_ultimate(Replay("x", replay.game, {}, (9,))).remarks[0]


@pytest.mark.slow
def test_ultimate_is_openspiels_game_move_by_move():
    pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    rng, theirs = random.Random(1), pyspiel.load_game("ultimate_tic_tac_toe")
    for _ in range(40):
        state = theirs.new_initial_state()
        while not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        text = pyspiel.serialize_game_and_state(theirs, state)
        replay = parse_replay(text.encode(), "x")
        judged = judge_ultimate(Replay("x", replay.game, {}, replay.actions, None, tuple(state.returns()), str(state)))
        assert all(move.legal for move in judged.moves) and judged.result != "is not over"
        assert set(judged.remarks) <= {openspiel_replays._REMARK}


def test_strangers_files_end_in_one_sentence(tmp_path):
    good = json.loads((FILES / "dark_hex.json").read_text())
    bad = [
        b"", b"\xff\xfe", b"{", b"[" * 100_000, b"null", b"[]", b'"text"', b"{}", b'{"info": 3}', b'{"info": {}}',
        b'{"info": {"openSpielGameStringResolved": "dark_hex("}}',
        b'{"info": {"openSpielGameStringResolved": "dark_hex()", "actionHistory": {}}}',
        b"# Automatically generated by OpenSpiel SerializeGameAndState",
        b"# Automatically generated by OpenSpiel SerializeGameAndState\n[State]\n[Game]\n",
        b"# Automatically generated by OpenSpiel SerializeGameAndState\n[Game]\nx()\n[State]\n-4\n",
        b"1" * 5000,
    ]  # fmt: skip
    for action in (-1, "-1", 1.5, None, True, [4], {"a": 1}, "4 ", "\u0664", "9" * 9, 10**9, "x\n\x1b[2J" * 50):
        bad.append(json.dumps({"info": {**good["info"], "actionHistory": [4, action]}}).encode())
    bad.append(json.dumps({"info": {**good["info"], "actionHistory": [4] * 1001}}).encode())
    for data in bad:
        with pytest.raises(ReplayError) as caught:
            parse_replay(data, "a file")
        said = str(caught.value)
        assert said.startswith("a file: ") and said.isprintable() and len(said) < 300 and said.endswith("."), said
    with pytest.raises(ReplayError, match="cannot be read: No such file"):
        read_replay(tmp_path / "nothing")
    with pytest.raises(ReplayError, match="cannot be read: Is a directory"):
        read_replay(tmp_path)


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(replays, "MOST_BYTES", 1 << 20)
    (tmp_path / "large").write_bytes(b" " * ((1 << 20) + 1))
    with pytest.raises(ReplayError, match="more than 1 MB"):
        read_replay(tmp_path / "large")


def test_damaged_files_are_told_or_refused_and_never_more():
    """Random damage to every kind of file: bytes, and values in the JSON by others."""
    rng, known = random.Random(7), named_game("dark-hex-3x3-classical")
    values = [None, -1, 1e400, float("nan"), "x" * 100, [], {}, [[[]]], True, 10**30, "9", "phantom_ttt()", "(", "\n"]

    def damage(value, depth=0):
        if depth and rng.random() < 0.15:
            return rng.choice(values)
        if isinstance(value, dict):
            return {k: damage(v, depth + 1) for k, v in value.items() if rng.random() > 0.05}
        return [damage(v, depth + 1) for v in value] if isinstance(value, list) else value

    told = refused = 0
    for path in sorted(FILES.iterdir()):
        data = path.read_bytes()
        for turn in range(150):
            if path.suffix == ".json" and turn % 2:
                broken = json.dumps(damage(json.loads(data))).encode()
            else:
                broken = bytearray(data)
                for _ in range(rng.randint(1, 4)):
                    at = rng.randrange(len(broken))
                    broken[at : at + rng.randint(0, 3)] = rng.randbytes(rng.randint(0, 3))
            try:
                replay = parse_replay(bytes(broken), "a file")
                game = phantom_game_of(replay)
                if game is None and replay.game == openspiel_replays.GAME:
                    found = judge_ultimate(Replay(**{**vars(replay), "actions": replay.actions[:40]}))
                else:
                    found = judge_replay(replay, game or known, None)
                assert "\n" not in " ".join(found.remarks) and " ".join(found.remarks).isprintable()
                json.dumps(found.as_record())
                told += 1
            except ReplayError as error:
                assert str(error).isprintable() and len(str(error)) < 300
                refused += 1
    assert told > 50 and refused > 50


def test_replays_from_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = Runner(capsys, tmp_path / "data", "pttt-abrupt")
    hexes = str(FILES / "dark_hex.json")
    done = run.ok("lab", "score", "--replays", hexes, str(FILES / "phantom_ttt.txt"))
    assert done.out.count("loss unknown") == 20 and "dark-hex-3x3-classical is not solved here" in done.err
    assert "dark-hex-3x3-classical; the game is won by player 1." in done.out
    proof = str(PROOFS / "dark-hex-3x3-classical.txt.gz")
    text = run.ok("lab", "score", "--replays", hexes, "--equilibrium", proof).out
    assert "  1. player 0 at |: 2 placed; loses " in text and "fails with probability 0.0000" in text
    found = run("lab", "score", "--replays", hexes, "--equilibrium", proof, "--json").json
    assert found["game"] == "dark-hex-3x3-classical" and len(found["moves"][0]["marks"]) == 9
    (tmp_path / "bad.json").write_text("{}")
    mixed = run("lab", "score", "--replays", "bad.json", hexes)
    assert mixed.code == 1 and "bad.json: This is no replay" in mixed.err and "is won by player 1" in mixed.out
    (tmp_path / "chess.json").write_text(Path(hexes).read_text().replace("dark_hex_proxy(", "chess("))
    assert "This is a replay of chess;" in run("lab", "score", "--replays", "chess.json").err
    assert "have a meaning" in run("lab", "score", "--replays", hexes, "--games", 20).err
