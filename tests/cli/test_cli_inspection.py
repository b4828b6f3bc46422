"""`pttt show`, `pttt lab best-response`, `pttt compare` and `pttt mistakes`, for good and for bad input."""

import json

import numpy as np
import pytest

import pttt_ooc as pttt
from pttt_ooc.disk.numbers import percent
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api import structures
from pttt_ooc.pipeline.show.boards import attempts_sentence, board_text
from tests.kits import naive
from tests.kits.cli_runner import GAME, Runner

RULES = named_game(GAME)


def lowest(text):
    return {min(naive.legal_squares(RULES, text)): 1}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A solution in a directory, and a strategy of player 0 in a file."""
    place = tmp_path_factory.mktemp("made")
    mine = pttt.Strategy.from_function(RULES, 0, lowest)
    mine.save(place / "lowest.zip")
    solution = pttt.solve(RULES, max_iterations=5, directory=place / "data")
    return mine, str(place / "lowest.zip"), solution, str(solution.directory)


@pytest.fixture
def run(capsys, made, monkeypatch):
    monkeypatch.setattr(structures._cache, "data", structures._cache.data)  # which commands change
    return Runner(capsys, made[2].directory.parent.parent, GAME)


@pytest.mark.slow
def test_an_infoset_is_shown(run, made, tmp_path):
    _, path, solution, directory = made
    shown = run.ok("show", path, "|0*1.").out
    assert shown == (
        f"{GAME}, player 0 at |0*1.: placed 0, found 1 occupied.\n"
        f"x: marks of player 0; o: of player 1; numbers: probabilities of {path}.\n"
        "\n"
        "   x    |   o    |   1\n"
        "--------+--------+--------\n"
        "   0    |   0    |   0\n"
        "\n"
        "In the support of this strategy: square 2.\n"
        f"`pttt lab equilibria --game {GAME}` finds which squares some equilibrium plays.\n"
    )
    found = run("show", directory, "|0*1.", "--player", 0, "--json").json
    assert found["probabilities"] == solution[0]["|0*1."].tolist()
    assert found["attempts"] == [{"square": 0, "placed": True}, {"square": 1, "placed": False}]
    assert (found["game"], found["player"], found["infoset"], found["strategy"]) == (GAME, 0, "|0*1.", directory)
    pttt.Strategy.uniform(RULES, 1).save(tmp_path / "second.zip")  # the number of its rows tells the player
    assert "player 1 at |0*: placed 0.\n" in run.ok("show", tmp_path / "second.zip", "|0*").out
    assert "no attempt yet" in run.ok("show", "uniform", "|", "--player", 0).out
    assert "0.1667" in run.ok("show", "uniform", "|", "--player", 0).out


def test_a_board_as_text():
    game = named_game("mini-2x3k3-abrupt-after-1-4")
    text = board_text(game, 1, "|4*0*2.", [0, 0, 0, 0.00001, 0, 0.99999])
    assert text == "   o    | 0      |   x\n--------+--------+--------\n<0.0001 |   o    |>0.9999".replace(
        " 0      ", "   0    "
    )
    assert attempts_sentence("|4*0*2.", 1) == "4 given, placed 0, found 2 occupied"
    assert board_text(game, 0, "|1*", [0.25, 0, 0.5, 0, 0.12345, 0]).splitlines()[0] == " 0.2500 |   x    | 0.5000"


@pytest.mark.slow
def test_the_best_response_is_written(run, made, tmp_path):
    mine, path, _, directory = made
    said = run.ok("lab", "best-response", path, "--output", tmp_path / "reply.zip").out
    reply = pttt.Strategy.read(tmp_path / "reply.zip", 1, RULES)
    value = naive.best_response_value(RULES, 1, {text: row.tolist() for text, row in mine.items()})
    assert said == f"{tmp_path / 'reply.zip'}: the best response of player 1 to {path}, which gets {value:+.9f}.\n"
    assert -pttt.evaluate(mine, reply).value == pytest.approx(value, abs=1e-12)
    found = run("lab", "best-response", directory, "--player", 1, "--output", tmp_path / "other.zip", "--json").json
    assert (found["player"], found["game"], found["output"]) == (0, GAME, str(tmp_path / "other.zip"))
    other = pttt.Strategy.read(tmp_path / "other.zip", 0, RULES)
    evaluated = run("evaluate", tmp_path / "other.zip", directory, "--json").json
    assert evaluated["value"] == pytest.approx(found["value"], abs=1e-6) and other.player == 0
    assert evaluated["best_response_0"] == pytest.approx(found["value"], abs=1e-9)


@pytest.mark.slow
def test_two_strategies_are_compared(run, made):
    mine, path, solution, directory = made
    found = run("compare", path, directory, "--against", "uniform", "--top", 3, "--json").json
    same = pttt.compare(mine, solution[0], pttt.Strategy.uniform(RULES, 1), top=3)
    assert found["inputs"] == [path, directory] and found["against"] == "uniform"
    assert json.loads(json.dumps(same.as_record())) == {k: found[k] for k in same.as_record()}
    assert len(found["largest"]) == 3 and found["largest"][0]["infoset"] == "|"
    said = run.ok("compare", path, directory, "--top", 2).out
    assert f"worst case of {path}" in said and "mean distance, weighted by reach" in said and "against" not in said
    assert said.count("square ") == 2
    assert found["losses"]["total"] == pytest.approx(found["values"][1] - found["values"][0], abs=1e-9)
    said = run.ok("compare", path, directory, "--against", "uniform", "--top", 2).out
    listed = [word for word in said[said.index("lost by the first") :].split() if word.startswith("|")]
    assert listed == [one["infoset"] for one in found["losses"]["infosets"][:2]]
    assert run("compare", path, path, "--json").json["largest"] == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("show", "{file}", "|0*0."), "'|0*0.' is no infoset of player 0: square 0 is attempted twice."),
        (
            ("show", "{file}", "|9*"),
            f"'|9*' is no infoset of player 0: there is no square 9; {GAME} has the squares 0 to 5.",
        ),
        (("show", "{tmp}", "|"), "{tmp}: This directory holds no solution; a strategy is a .zip, a .npy, an .h5"),
        (("show", "{data}", "|"), "{data}: This directory holds no solution; did you mean {directory}?"),
        (("show", "uniform", "|"), "uniform may be for either player; say whose by --player."),
        (("show", "{file}", "|", "--player", 1), "This is a file of player 0"),
        (("show", "{tmp}/none.zip", "|"), "There is no such file or directory"),
        (("show", "{file}", "|", "--player", 2), "'--player'"),
        (("lab", "best-response", "{file}", "--output", "{tmp}/reply.npy"), "the name must end with .zip."),
        (("lab", "best-response", "{file}", "--output", "{tmp}/a/reply.zip"), "there is no directory"),
        (
            ("lab", "best-response", "{directory}", "--output", "{tmp}/r.zip"),
            "may be for either player; say whose",
        ),
        (("lab", "best-response", "{odd}", "--output", "{tmp}/r.zip"), "Invalid tensor shape: found (3, 6)"),
        (
            ("lab", "best-response", "{bad}", "--output", "{tmp}/r.zip"),
            "row 0 (counted from 0), infoset '|': the sum is 0.0",
        ),
        (("compare", "{file}", "{reply}"), "This is a file of player 1"),
        (
            ("compare", "uniform", "uniform"),
            "uniform and uniform may be for either player; say whose by --player.",
        ),
        (("compare", "{file}", "{file}", "--against", "{file}"), "This is a file of player 0"),
        (("compare", "{file}", "{file}", "--top", -1), "'--top'"),
    ],
)
def test_what_is_refused(run, made, tmp_path, arguments, sentence):
    _, path, _, directory = made
    if "{odd}" in arguments:
        np.save(tmp_path / "odd.npy", np.zeros((3, 6)))
    if "{bad}" in arguments:
        np.save(tmp_path / "bad.npy", np.zeros((189, 6)))
    if "{reply}" in arguments:
        pttt.Strategy.uniform(RULES, 1).save(tmp_path / "reply.zip")
    places = {"file": path, "directory": directory, "tmp": tmp_path, "data": run.data}
    places |= {"odd": tmp_path / "odd.npy", "bad": tmp_path / "bad.npy", "reply": tmp_path / "reply.zip"}
    before = sorted(tmp_path.iterdir())
    done = run(*[str(argument).format(**places) for argument in arguments])
    assert done.code and sentence.format(**places) in done.err.replace("\n", " "), done.err
    assert "Traceback" not in done.err and sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
def test_mistakes_are_told(run, made):
    mine, path, solution, directory = made
    found = run("mistakes", path, "--top", 3, "--json").json
    assert (found["strategy"], found["player"], found["game"]) == (path, 0, GAME)
    assert found["equilibrium"] == directory  # the best solution of the game in --data
    evaluated = run("evaluate", path, directory, "--json").json
    assert found["exploitability"] == pytest.approx(evaluated["exploitability_0"], abs=1e-9)
    parts = found["own_mistakes"] + found["openings"] + found["remainder"]
    assert parts == pytest.approx(found["exploitability"], abs=1e-9) and found["own_mistakes"] > 0.01
    assert found["remainder"] == pytest.approx(-evaluated["best_response_0"] + sum(found["game_value"]) / 2, abs=1e-9)
    kinds = [one["kind"] for one in found["infosets"]]  # the strategy comes to few infosets
    assert kinds == ["own mistake"] * 2 + ["opening"] * 2
    worst = found["infosets"][0]
    assert mine[worst["infoset"]].tolist() == worst["probabilities"]
    text = run.ok("mistakes", path, "--top", 3).out
    assert f"exploitability{found['exploitability']:.9f}" in text.replace(" ", "")
    assert worst["infoset"] in text and f"{worst['loss']:.6f}" in text
    costliest = max(range(6), key=lambda s: worst["probabilities"][s] * (worst["losses"][s] or 0))
    best = min((s for s in range(6) if worst["losses"][s] is not None), key=lambda s: worst["losses"][s])
    said = (costliest, percent(worst["probabilities"][costliest])), (best, percent(worst["probabilities"][best]))
    assert "square {} (you play it {})".format(*said[0]) in text and "square {} ({})".format(*said[1]) in text
    assert ("remainder" in text) == (abs(found["remainder"]) >= 1e-9) and "-0.000000000" not in text
    named = run("mistakes", path, "--equilibrium", "uniform", "--game-value", "0.5", "--json").json
    assert (named["equilibrium"], named["game_value"]) == ("uniform", [0.5, 0.5])
    assert named["infosets"] and named["openings"] != found["openings"]


@pytest.mark.slow
def test_mistakes_with_symmetry_are_those_without(run, made, tmp_path):
    *_, solution, directory = made
    solution[1].save(tmp_path / "second.zip", "float64")
    folded = run("mistakes", directory, "--player", 1, "--json").json
    whole = run("mistakes", tmp_path / "second.zip", "--player", 1, "--json").json
    for key in ("exploitability", "own_mistakes", "openings", "remainder"):
        assert folded[key] == pytest.approx(whole[key], abs=1e-12)
    for table in ("by_depth", "by_opening"):
        for name in ("own_mistakes", "openings"):
            assert folded[table][name] == pytest.approx(whole[table][name], abs=1e-9)
    losses = [[one["loss"] for one in each["infosets"]] for each in (folded, whole)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-9)


def test_mistakes_that_cannot_be_found(run, made, tmp_path):
    _, path, *_ = made
    none = run("mistakes", path, data=tmp_path)
    assert (
        none.code == 1 and f"There is no solution of {GAME} in {tmp_path}" in none.err and "--equilibrium" in none.err
    )
    other = "mini-2x3k3-abrupt-after-1-4"  # of no certificate
    value = run("mistakes", "uniform", "--player", 0, "--equilibrium", "uniform", game=other, data=tmp_path)
    assert value.code == 1 and f"The value of {other} is not known here; give it by --game-value." in value.err
    small = run("mistakes", path, "--memory-mb", 3)
    assert small.code == 1 and "A memory budget of 3 MB is too small" in small.err
