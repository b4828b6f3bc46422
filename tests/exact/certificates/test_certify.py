"""The commands `pttt certify` and `pttt verify`."""

import gzip
import random
from fractions import Fraction

import pytest

from docs.make import certificates
from pttt_ooc.exact.double_oracle import oracle as oracle_module
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game
from tests.kits import naive
from tests.kits.cli_runner import Done, main, rounded, tensor_of, write_zip
from tests.kits.verify_program import PROOF, proven_words, verify

pytest.importorskip("flint")
pytest.importorskip("highspy")
GAME = "mini-2x3k2-abrupt"


@pytest.fixture
def pttt(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments)])
        return Done(end.value.code or 0, *capsys.readouterr())

    return run


def test_a_game_gets_a_certificate_that_both_programs_verify(pttt, tmp_path):
    done = pttt("certify", "--game", GAME)
    assert done.code == 0 and done.out.splitlines()[-1] == "proven: value = 13/17 = 0.764705882352941..."
    assert "in fractions" in done.err
    path = tmp_path / "certificate.txt.gz"
    assert verify(path)[-1] == done.out.splitlines()[-1]
    found = pttt("verify", path, "--json").json
    assert (found["game"], found["lower"], found["upper"], found["exact"]) == (GAME, "13/17", "13/17", True)
    assert min(found["visited"]) > 0 and min(found["infosets"]) > 10 and found["seconds"] >= 0
    shown = pttt("verify", path).out
    assert "0.764705882352941" in shown and "infosets visited" in shown
    again = pttt("certify", "--game", GAME, "-o", tmp_path / "again.txt.gz", "--json").json
    assert gzip.decompress((tmp_path / "again.txt.gz").read_bytes()) == gzip.decompress(path.read_bytes())
    assert again["bytes"] == path.stat().st_size and again["infosets"] == found["infosets"]


@pytest.mark.slow_but_one
@pytest.mark.parametrize(
    ("name", "transposed"),
    [
        ("pttt-4x3k3-classical", "pttt-3x4k3-classical"),
        ("pttt-5x2k3-classical", "pttt-2x5k3-classical"),
        ("pttt-4x4k3-classical", "pttt-3x4k3-classical"),  # no transpose: a larger board is no harder for player 0
    ],
)
def test_boards_of_more_than_ten_squares_get_certificates(name, transposed, pttt, tmp_path):
    done = pttt("certify", "--game", name)
    value = EXACT_VALUES[transposed]
    assert done.out.splitlines()[-1] == f"proven: {proven_words(value)}"
    assert verify(tmp_path / "certificate.txt.gz")[-1] == done.out.splitlines()[-1]
    assert pttt("verify", "certificate.txt.gz", "--json").json["game"] == name


@pytest.mark.slow
def test_what_is_free_inside_of_a_face_is_told(pttt, monkeypatch):
    found = pttt("certify", "--game", GAME, "--json").json
    assert "dimensions" not in found and "free" not in found, "a vertex says nothing about its face"
    monkeypatch.setattr(oracle_module, "NEARBY_FROM", 0)
    done = pttt("certify", "--game", "mini-2x3k3-abrupt", "-o", "inside.txt.gz", "--json").json
    assert done["exact"] and all(
        0 < dimension < free for dimension, free in zip(done["dimensions"], done["free"], strict=True)
    )
    shown = pttt("certify", "--game", "mini-2x3k3-abrupt", "--force").out
    words = " and ".join(map(str, done["dimensions"]))
    assert any(line.split() == f"dimensions of the face {words}".split() for line in shown.splitlines())


@pytest.mark.slow
def test_a_gap_gets_a_proven_interval_from_a_saved_run(pttt, tmp_path):
    """What the rounds prove in double precision, and then what they prove when they go on."""
    name = "mini-2x3k3-abrupt"
    first = pttt("certify", "--game", name, "--state", "run", "--gap", "0.05", "--json").json
    lower, upper = (Fraction(first[end]) for end in ("lower", "upper"))
    assert lower < EXACT_VALUES[name] < upper <= lower + Fraction(1, 20) and not first["exact"]
    assert verify(tmp_path / "certificate.txt.gz")[-1] == f"proven: {proven_words(lower, upper)}"
    oracle = DoubleOracle(named_game(name))
    *_, last = oracle.rounds(0.05)
    assert (float(lower), float(upper)) == pytest.approx((last.lower, last.upper), abs=1e-12)
    again = pttt("certify", "--game", name, "--state", "run", "--gap", "0.05", "-o", "again.txt.gz")
    assert "round " not in again.err and again.out.splitlines()[-1] == f"proven: {proven_words(lower, upper)}"
    texts = [gzip.decompress((tmp_path / f"{name}.txt.gz").read_bytes()) for name in ("again", "certificate")]
    assert texts[0] == texts[1]
    assert pttt("exact", "--game", name, "--state", "run", "--json").json["rounds"] > last.number
    last = pttt("certify", "--game", name, "--state", "run", "-o", "exact.txt.gz", "--json").json
    assert last["lower"] == last["upper"] == str(EXACT_VALUES[name])


def test_two_strategies_get_a_proven_interval(pttt, tmp_path):
    game, draw = named_game(GAME), random.Random(5)
    tables = [naive.random_strategy(game, player, draw, 0.5) for player in (0, 1)]
    for player in (0, 1):
        write_zip(tmp_path / f"{player}.zip", tensor_of(GAME, player, tables[player]))
    found = pttt("certify", "0.zip", "1.zip", "--game", GAME, "--json").json
    assert not found["exact"]
    lower, upper = (float(Fraction(found[end])) for end in ("lower", "upper"))
    tables = [rounded(game, table) for table in tables]
    assert upper == pytest.approx(naive.best_response_value(game, 0, tables[1]), abs=1e-12)
    assert lower == pytest.approx(-naive.best_response_value(game, 1, tables[0]), abs=1e-12)
    assert lower <= float(EXACT_VALUES[GAME]) <= upper
    assert verify(tmp_path / "certificate.txt.gz")[-1] == f"proven: {proven_words(found['lower'], found['upper'])}"


def test_bad_input_gets_one_sentence_and_writes_nothing(pttt, tmp_path):
    write_zip(tmp_path / "0.zip", tensor_of(GAME, 0, naive.uniform(named_game(GAME), 0)))
    (tmp_path / "old.txt.gz").write_bytes(b"mine")
    (tmp_path / "no.txt.gz").write_bytes(b"nothing")
    for arguments, said in [
        (("certify", "--game", "no-such-game"), "no-such-game"),
        (("certify", "0.zip"), "player 1's"),
        (("certify", "0.zip", "uniform", "--game", GAME, "--gap", "0.1"), "leave them out"),
        (("certify", "0.zip", "uniform", "--game", GAME, "--state", "run"), "leave them out"),
        (("certify", "--game", GAME, "--gap", "-1"), "--gap"),
        (("certify", "--game", GAME, "--state", "old.txt.gz"), "old.txt.gz"),
        (("certify", "--game", GAME, "--infosets0", "0.zip"), "leave them out"),
        (("certify", "--game", "mini-2x3k3-abrupt-after-1"), "empty boards"),
        (("certify", "0.zip", "nowhere.zip"), "nowhere.zip"),
        (("certify", "0.zip", "uniform", "--game", GAME, "-o", "0.zip"), "0.zip"),
        (("certify", "--game", GAME, "-o", "old.txt.gz"), "--force"),
        (("certify", "--game", GAME, "-o", "old.txt"), ".gz"),
        (("verify", "nowhere.txt.gz"), "no such file"),
        (("verify", "no.txt.gz"), "line 1"),
        (("verify", tmp_path), "no such file"),
    ]:
        done = pttt(*arguments)
        assert done.code and said in done.err and "Traceback" not in done.err, (arguments, done)
        assert not done.out
    assert (tmp_path / "old.txt.gz").read_bytes() == b"mine"
    assert not (tmp_path / "certificate.txt.gz").exists()


@pytest.mark.slow
def test_a_strategy_that_reaches_too_much_is_told_so(pttt, monkeypatch):
    monkeypatch.setattr("pttt_ooc.exact.certificates.behaviours.rounded_plan.__defaults__", (100,))
    done = pttt("certify", "uniform", "uniform", "--game", GAME)
    assert done.code == 1 and "more than 100 infosets" in done.err and f"pttt certify --game {GAME}" in done.err


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("pttt-2x5k3-abrupt", marks=pytest.mark.long),
        pytest.param("pttt-3x4k3-abrupt", marks=pytest.mark.full),
        pytest.param("dark-hex-3x4-abrupt", marks=pytest.mark.full),
        pytest.param("dark-hex-4x4-classical", marks=pytest.mark.full),
    ],
)
def test_the_largest_certificates_are_verified(name, pttt):
    found = pttt("verify", PROOF / f"{name}.txt.gz", "--json").json
    assert found["lower"] == found["upper"] == str(EXACT_VALUES[name]) and found["game"] == name


@pytest.mark.slow
def test_certificates_are_made_anew_and_verified(tmp_path, capsys):
    certificates.main([str(tmp_path), "mini-2x2k2-abrupt"])
    *_, row = capsys.readouterr().out.splitlines()
    assert row.startswith("| `mini-2x2k2-abrupt` | 2/3 | 1 | ")
    assert verify(tmp_path / "mini-2x2k2-abrupt.txt.gz")[-1] == "proven: value = 2/3 = 0.666666666666666..."
    with pytest.raises(SystemExit):
        certificates.main([str(tmp_path), "no-such-game"])
    assert "no-such-game" in capsys.readouterr().err
