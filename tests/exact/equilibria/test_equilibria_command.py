"""`pttt lab equilibria`, and what it keeps for `pttt show` and the pages."""

import json

import pytest

from pttt_ooc.cli.commands import main
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.files.equilibrium import SUPPORTS, stored_support
from tests.kits import naive

pytest.importorskip("flint")
pytest.importorskip("scipy")
from tests.exact.equilibria.test_supports import TINY, met, played
from tests.kits.naive_face import NaiveFace

GAME = "mini-3x2k2-abrupt"


def run(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return ended.value.code, out, err


@pytest.mark.slow
def test_facts_and_marks_are_those_of_all_sequences(tmp_path, capsys):
    game = named_game(GAME)
    code, out, _ = run(capsys, "lab", "equilibria", "--game", GAME, "--json", "--data", tmp_path)
    found = json.loads(out)
    references = [NaiveFace(game, player) for player in (0, 1)]
    expected = met(game, [played(reference) for reference in references])
    assert code == 0 and found["game"] == GAME and found["value"] == pytest.approx(13 / 17)
    assert [facts["dimension"] for facts in found["players"]] == [10, 0]  # also those of test_supports
    assert [facts["pure"] for facts in found["players"]] == [-1, -1]
    for player, (facts, reference) in enumerate(zip(found["players"], references, strict=True)):
        for one in facts["openings"]:
            ends = [sign * reference.extreme({("|", s): sign for s in one["squares"]})[0] for sign in (-1.0, 1.0)]
            assert [one["lowest"], one["highest"]] == pytest.approx(ends, abs=TINY)
        assert facts["infosets"] <= len({text for text, _ in expected[player]})

    # What is kept: at each infoset the squares of some equilibrium, or None where no two of them come.
    directory = tmp_path / GAME / "full"
    support = stored_support(directory, game)
    for player in (0, 1):
        for text in naive.infosets(game, player):
            squares = sorted(square for at, square in expected[player] if at == text)
            assert support.played_squares(player, tuple(naive.attempts(text))) == (squares or None), text

    code, out, _ = run(capsys, "show", "uniform", "|", "--player", 1, "--game", GAME, "--data", tmp_path)
    assert code == 0 and out.count("*") == 6 + 1
    assert "In the support of this strategy: squares 0, 1, 2, 3, 4 and 5.\n" in out
    assert "In the support of some equilibrium (*): squares 0, 1, 2, 3, 4 and 5.\n" in out
    code, out, _ = run(capsys, "show", "uniform", "|0*", "--player", 0, "--game", GAME, "--data", tmp_path, "--json")
    squares = sorted(square for at, square in expected[0] if at == "|0*")
    assert json.loads(out)["equilibria"] == {"met": True, "squares": squares} and 0 < len(squares) < 5
    never = next(text for text in naive.infosets(game, 0) if not any(at == text for at, _ in expected[0]))
    code, out, _ = run(capsys, "show", "uniform", never, "--player", 0, "--game", GAME, "--data", tmp_path)
    assert code == 0 and "Between equilibrium strategies no game gets here." in out


@pytest.mark.slow
def test_nothing_is_kept_without_being_asked_for(tmp_path, capsys):
    code, out, _ = run(capsys, "lab", "equilibria", "--game", "mini-2x2k2-abrupt", "--no-keep", "--data", tmp_path)
    assert code == 0 and "player 1: one equilibrium strategy" in out and "the best pure strategy guarantees -1" in out
    assert not (tmp_path / "mini-2x2k2-abrupt/full" / SUPPORTS).exists()
    arguments = ("show", "uniform", "|", "--player", 0, "--game", "mini-2x2k2-abrupt", "--data", tmp_path)
    out = run(capsys, *arguments)[1]
    assert "*" not in out and "`pttt lab equilibria --game mini-2x2k2-abrupt` finds which squares" in out
    pure, of_game = tmp_path / "pure.zip", ("--game", "mini-2x2k2-abrupt")
    assert run(capsys, "lab", "best-response", "uniform", "--player", 1, *of_game, "--output", pure)[0] == 0
    record = json.loads(run(capsys, "show", pure, "|0*", *arguments[3:], "--json")[1])
    assert record["equilibria"] is None and sum(record["probabilities"][square] for square in record["support"]) == 1
    assert 0 < len(record["support"]) < 3


def test_a_game_that_is_not_listed_is_refused(tmp_path, capsys):
    code, _, err = run(capsys, "lab", "equilibria", "--game", "pttt-2x5k3-abrupt", "--data", tmp_path)
    assert code != 0 and "boards of up to 9 squares" in err and len(err.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())
