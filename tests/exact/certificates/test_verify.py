"""proof/verify.py: it proves the committed certificates, and refuses damaged ones, each with line and reason."""

import gzip
import os
import random
import re
import subprocess
import sys
import tempfile

import pytest

from pttt_ooc.errors import CertificateError
from pttt_ooc.exact.certificates.certificate import verify_certificate
from pttt_ooc.games.rules.catalogue import EXACT_VALUES, GAMES, named_game
from tests.exact.certificates.fuzzed_certificates import files_by_lot
from tests.kits.damaged_certificates import BOMBS, DAMAGED, LINES, NAME, SMALLEST, at_the_limits, zips
from tests.kits.pythons import python_of
from tests.kits.verify_program import PROGRAM, PROOF, proven_words, text_of, verify, zipped

BENCHMARKS = ["pttt-abrupt", "pttt-classical", "dark-hex-3x3-abrupt", "dark-hex-3x3-classical"]
LARGE = {
    **dict.fromkeys(["pttt-abrupt", "pttt-2x5k3-abrupt"], pytest.mark.long),
    **dict.fromkeys(["pttt-3x4k3-abrupt", "dark-hex-3x4-abrupt", "dark-hex-4x4-classical"], pytest.mark.full),
}
PROGRAMS = {"verify.py": [PROGRAM], "pttt verify": ["-m", "pttt_ooc.cli", "verify"]}


def test_the_program_is_a_page_of_the_standard_library():
    text = PROGRAM.read_text()
    assert len(text.splitlines()) <= 155
    assert set(re.findall(r"^(?:from|import) (\w+)", text, re.M)) <= set(sys.stdlib_module_names)


def test_there_is_a_certificate_for_each_game_with_an_empty_board():
    empty = {name for name, game in GAMES.items() if not any(game.setup)}
    assert {path.name.removesuffix(".txt.gz") for path in PROOF.glob("*.txt.gz")} == set(EXACT_VALUES) > empty
    assert sum((PROOF / f"{name}.txt.gz").stat().st_size for name in BENCHMARKS) <= 300_000


def test_certificates_claim_the_values_of_the_catalogue():
    """Without proving them again, which the slow test below does."""
    for name, value in EXACT_VALUES.items():
        with gzip.open(PROOF / f"{name}.txt.gz", "rt", encoding="ascii") as lines:
            claim = next(line for line in lines if line.startswith("claim "))
        assert claim == f"claim {value} <= value <= {value}\n", name


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=LARGE.get(name, ())) for name in EXACT_VALUES])
def test_committed_certificates_prove_the_values_of_the_catalogue(name):
    """What the catalogue says is what the program proves, with the rules of the game that has this name."""
    *rules, last = verify(PROOF / f"{name}.txt.gz")
    value = EXACT_VALUES[name]
    assert last == f"proven: {proven_words(value)}"
    game = named_game(name)
    assert rules[:2] == [f"squares {game.squares}", f"turns {game.turn_rule}"]
    for player in (0, 1):
        _, number, *words = rules[2 + player].split(" ")
        assert int(number) == player
        assert {sum(1 << int(digit, 16) for digit in word) for word in words} == set(game.winning_sets[player])


@pytest.mark.parametrize("name", [name for name in EXACT_VALUES if name.startswith(("mini", "dark-hex-2"))])
def test_without_bounds_the_program_proves_the_same(name):
    path = PROOF / f"{name}.txt.gz"
    assert verify(path) == verify(path, "--every-attempt")


def test_a_board_of_one_square(tmp_path):
    path = zipped(SMALLEST, tmp_path / "smallest.txt.gz")
    assert verify(path)[-1] == verify(path, "--every-attempt")[-1] == "proven: value = 1"
    assert verify_certificate(path)[0].exact


def test_certificates_at_the_limits_are_proven(tmp_path):
    """Of digits, of characters in a line, and of bytes of text for each byte of the file."""
    path = tmp_path / "limit.txt.gz"
    for content in at_the_limits():
        path.write_bytes(content)
        assert verify(path)[-1] == "proven: value = 1"
        assert verify_certificate(path)[0].exact


# ---------------------------------------------------------------------------------------------
# Damage


def refusals(path):
    """What the program and the package say."""
    [said] = verify(path)
    with pytest.raises(CertificateError) as refused:
        verify_certificate(path)
    return said, str(refused.value)


@pytest.mark.slow_but_one
@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_certificate_is_refused_with_line_and_reason(damage, tmp_path):
    text, number, reason = DAMAGED[damage]
    said, by_the_package = refusals(zipped(text, tmp_path / "damaged.txt.gz"))
    assert re.match(r"refused: line \d+: .*\S", said)
    for sentence in (said, by_the_package):
        assert re.search(reason, sentence), sentence
        assert len(sentence) < 300 and (number is None or f"line {number}:" in sentence), sentence


@pytest.mark.parametrize("damage", zips())
def test_a_damaged_file_is_refused(damage, tmp_path):
    path = tmp_path / "damaged.txt.gz"
    path.write_bytes(zips()[damage])
    said, by_the_package = refusals(path)
    assert re.match(r"refused: line \d+: .*\S", said) and re.search(r"line \d+: .*\S", by_the_package)


@pytest.mark.slow
def test_damage_at_any_place_is_refused(tmp_path):
    """A character that is replaced, left out or added; only other rules may be proven, and then they are printed."""
    draw, text, path = random.Random(35), text_of(NAME), tmp_path / "damaged.txt.gz"
    for _ in range(150):
        place = draw.randrange(len(text))
        now = draw.choice(["", draw.choice("0123456789|*.= \n-ax")])
        damaged = text[:place] + now + text[place + draw.randrange(2) :]
        zipped(damaged, path)
        said = verify(path)
        if len(said) > 1:
            assert damaged == text or said[:4] != LINES[1:5], damaged
        else:
            assert re.match(r"refused: line \d+: .*\S", said[0]), (damaged, said)
            with pytest.raises(CertificateError, match=r"line \d+: .*\S"):
                verify_certificate(path)


def test_the_program_and_the_package_accept_the_same_files(tmp_path):
    """Games and plans by lot, and ten times as many with damage."""
    proven = [proven for _, proven in files_by_lot(1, 400, tmp_path / "certificate.txt.gz")]
    assert 60 < proven.count(None) < 340


def measured(command):
    """What a program prints, and its processor seconds and largest memory in bytes."""
    with tempfile.TemporaryFile() as told:
        child = subprocess.Popen([*map(str, command)], stdout=told, stderr=told)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        return child.returncode, told.read().decode(), usage.ru_utime, usage.ru_maxrss * 1024


@pytest.mark.slow
@pytest.mark.long_but("verify.py-zeros", "verify.py-huge", "pttt verify-zeros")
@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_bomb_takes_neither_memory_nor_time(bomb, program, tmp_path):
    """Text has at most 100 bytes for a byte of the file, and lines take at most 10 bytes of memory for one of text."""
    path = tmp_path / "bomb.txt.gz"
    path.write_bytes(BOMBS[bomb]())
    program = [sys.executable, *PROGRAMS[program]]
    _, _, seconds_before, memory_before = measured([*program, PROOF / f"{NAME}.txt.gz"])
    code, told, seconds, memory = measured([*program, path])
    assert code == 1 and "line" in told
    assert seconds < seconds_before + 10
    assert memory < memory_before + 100 * 11 * path.stat().st_size + 30_000_000


@pytest.mark.slow
@pytest.mark.long_but("3.9", "3.13", "3.14")
@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_any_python_verifies_a_certificate_and_refuses_damage(version, tmp_path):
    python = python_of(version)
    if python is None:
        pytest.skip(f"there is no other version of Python: {version}")
    value = EXACT_VALUES["dark-hex-3x3-abrupt"]
    code, told, *_ = measured([python, PROGRAM, PROOF / "dark-hex-3x3-abrupt.txt.gz"])
    assert code == 0 and told.splitlines()[-1] == f"proven: {proven_words(value)}"
    for damage in ("a weight", "a wrong value", "a missing infoset", "digits of another script", "a huge weight"):
        code, told, *_ = measured([python, PROGRAM, zipped(DAMAGED[damage][0], tmp_path / "damaged.txt.gz")])
        assert code == 1 and re.match(r"refused: line \d+: .*\S", told), (damage, told)


def test_what_is_said_before_anything_is_read(tmp_path):
    def run(*arguments, switches=()):
        done = subprocess.run([sys.executable, *switches, str(PROGRAM), *arguments], capture_output=True, text=True)
        assert done.returncode == 1 and "Traceback" not in done.stderr
        return done.stderr

    assert "python verify.py certificate.txt.gz" in run()
    assert "No such file" in run(str(tmp_path / "none"))
    assert "python verify.py" in run(str(PROOF / f"{NAME}.txt.gz"), "--fast")
    assert "-O" in run(str(PROOF / f"{NAME}.txt.gz"), switches=["-O"])
