"""proof/coq: certificates become theorems, and nothing but Coq and the page of the statement has to be believed."""

import gzip
import re
import shutil
import sys
from fractions import Fraction
from typing import get_args

import pytest

from pttt_ooc.games.rules.catalogue import EXACT_VALUES, named_game, tic_tac_toe_name
from pttt_ooc.types import TurnRule
from tests.exact.certificates.fuzzed_certificates import files_by_lot
from tests.exact.certificates.marked_certificates import MARKED
from tests.kits import naive
from tests.kits.cli_runner import main
from tests.kits.verify_program import PROOF, text_of, zipped

COQ = PROOF / "coq"
sys.path.insert(0, str(COQ))
import prove  # noqa: E402
import write_claim  # noqa: E402

SOURCES = {path.name: path.read_text() for path in sorted(COQ.glob("*.v"))}
COUNTED = [
    *(f"{name}-{rule}" for name in ("mini-2x2k2", "dark-hex-2x2") for rule in ("abrupt", "classical")),
    "mini-2x3k2-abrupt",
    "mini-2x3k3-abrupt-after-1-4",
]
PLAYED = [name for name in COUNTED if not name.startswith("mini-2x3k2")]
SEEDS = [(1, 2), (512, 4096)]
RULES = get_args(TurnRule)
SHAPES = [(1, 2), (1, 3), (1, 4), (1, 5), (1, 6), (2, 2), (2, 3), (3, 2)]
SMALL = [  # a column is a row, but for Dark Hex
    *(tic_tac_toe_name(n, m, k, rule) for n, m in SHAPES for k in range(2, 1 + max(n, m)) for rule in RULES),
    *(f"dark-hex-{n}x{m}-{rule}" for n, m in {*SHAPES, *((m, n) for n, m in SHAPES)} for rule in RULES),
]

# Definitions of the checker, changed so that it would say too little: then a proof has to fail.
MUTANTS = [
    ("Checker.v", "if wins own' then (weights placed, [])", "if wins own' then (0, [])"),
    (
        "Checker.v",
        "if loses marks' then (fst found - w, snd found)",
        "if loses marks' then (fst found - w - w, snd found)",
    ),
    (
        "Checker.v",
        "else if covered own marks' then found",
        "else if covered own marks' then (fst found - w, snd found)",
    ),
    ("Checker.v", "| Stop => (fst found + w, snd found)", "| Stop => found"),
    ("Checker.v", "| Stop => (fst found + weight_of e, snd found)", "| Stop => found"),
    ("Checker.v", "| O => weights L", "| O => 0"),
    ("Checker.v", "let left' := left - limit in", "let left' := left in\n      let got := got - limit in"),
    ("Checker.v", "(if limit_of x <=? so_far then so_far", "(if so_far <=? limit_of x then so_far"),
    ("Checker.v", "(seq 0 squares) with\n          | []", "(seq 1 squares) with\n          | []"),
    ("Checker.v", "(if classical then - force all else moves own)", "(- force all)"),
    ("Checker.v", "then force all\n", "then 0\n"),
    ("Checker.v", "match recall limits own with Some z => z", "match recall limits own with Some z => z - 1"),
    ("Checker.v", "if loses marks' then - w else if covered", "if loses marks' then - w - w else if covered"),
    ("Checker.v", "With (remember less known' marks' (fun set => f (xI set)))", "With (remember less known' marks' f)"),
    ("Checker.v", "| _ => total t =? w", "| _ => total t <=? w"),
    ("Checker.v", "&& negb (plays next s)\n", "\n"),
    ("Checker.v", "&& (0 <? w) &&", "&&"),
    ("Bounds.v", "negb (wins G One (first_seen G One)) && ", ""),
    ("Bounds.v", "negb (full G (start G)) &&\n", "\n"),
    ("Bounds.v", "Branch mine mine reached", "Branch mine (empty n) reached"),
    ("Bounds.v", "plan (setup_set (other me)) in", "plan (empty n) in"),
    ("Bounds.v", "(if begins me then answer", "(if negb (begins me) then answer"),
    ("Bounds.v", "Qle_bool v low && Qle_bool high v", "Qle_bool v low && Qle_bool v high"),
    (
        "Bounds.v",
        "| xI a, xI b | xI a, xO b | xO a, xI b => fill less a b",
        "| xI a, xI b | xI a, xO b | xO a, xI b | xO a, xO b => fill less a b",
    ),
    ("Bounds.v", "answer [root] (- total plan)", "answer [] (- total plan)"),
]
CHANGED = ["Checker", "Plans", "Soundness", "Bounds"]  # each of these needs those before it


def test_nothing_is_admitted():
    words = r"\b(Admitted|admit|Axiom|Axioms|Parameter|Parameters|Conjecture|Abort|bypass_check|Unset Guard Checking)\b"
    assert set(SOURCES) == {f"{name}.v" for name in [*prove.LIBRARY, "Extraction"]}
    for name, text in SOURCES.items():
        assert not re.search(words, text), name
        assert text.count("Proof.") == text.count("Qed."), name


def test_what_claims_stand_on_uses_no_tactic_that_brings_a_theory():
    """`Print Assumptions` walks through all proofs below a theorem: these would double its time."""
    for name in set(prove.LIBRARY) - {"Reals", "Counts"}:
        assert not re.search(r"^From Coq .*\b(Lia|Psatz|Field)\b", SOURCES[f"{name}.v"], re.M), name


def test_the_statement_knows_no_solver():
    """It fits on a page, and mentions neither plans nor programs that check them."""
    text = SOURCES["Statement.v"]
    assert re.findall(r"^From .*", text, re.M)[1:] == ["From Phantom Require Import Numbers."]
    assert len(text.splitlines()) <= 120
    assert not re.search(r"\b(tree|weight|respond|bounds|Act|vm_\w+)\b", text)


def plan_from(text, weights, digits):
    """The plan that digits make, read by another reader: the actions of an infoset as in verify.py, without numbers."""
    stack, place = [], 0
    while place < len(text):
        flags, square, place = int(text[place], 16), int(text[place + 1], 16), place + 2
        following = stack.pop() if flags & 1 else []
        placed = stack.pop() if flags & 2 else None
        failed = stack.pop() if flags & 4 else None
        if flags & 6:
            weight = sum(action[1] for action in failed or placed)
        else:
            weight, place = weights[int(text[place : place + digits], 16)], place + digits
        stack.append([(1 << square, weight, failed, placed), *following])
    (plan,) = stack
    return plan


def actions_of(infoset):
    return infoset and [(bit, w, actions_of(failed), actions_of(placed)) for bit, w, failed, placed in infoset[3]]


@pytest.mark.parametrize(
    "name", [name for name in EXACT_VALUES if not re.search("3x4k3-a|2x5k3-a|hex-3x4-a|hex-4x4|^pttt-a", name)]
)
def test_claims_have_the_rules_the_values_and_the_plans_of_certificates(name):
    text = write_claim.claim_text(PROOF / f"{name}.txt.gz")
    certificate = write_claim.Certificate()
    certificate.read((PROOF / f"{name}.txt.gz").read_bytes())
    for plan in certificate.plans:
        assert plan_from(*write_claim.digits_of(plan)) == actions_of(plan)
    game, value = named_game(name), Fraction(EXACT_VALUES[name])
    assert f"(of_Q (Qmake ({value.numerator}) {value.denominator}))" in text
    assert f"squares := {game.squares};" in text
    assert f"classical := {str(game.turn_rule == 'classical').lower()};" in text
    for player, word in enumerate(("Zero", "One")):
        sets = re.findall(
            r"\[([\d; ]+)\]", re.search(rf"\| {word} => (.*)", text)[1].replace("[[", "[").replace("]]", "]")
        )
        assert {sum(1 << int(square) for square in words.split("; ")) for words in sets} == set(
            game.winning_sets[player]
        )


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The library, compiled."""
    if not shutil.which("coqc"):
        pytest.skip("Coq is not installed: its theorems are not checked here")
    folder = tmp_path_factory.mktemp("theorem")
    prove.compile_library(folder)
    return folder


def evaluated(library, text):
    """What Coq prints for each `Eval` of a text."""
    (library / "question.v").write_text(text)
    return prove.compile_file(library, "question")[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mini-2x3k2-abrupt", "dark-hex-2x3-classical"])
def test_values_are_theorems(name, library):
    prove.prove(library, name)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["14/17", "12/17"])
def test_false_claims_are_refused(value, library):
    with pytest.raises(prove.Refused):
        prove.prove(library, "mini-2x3k2-abrupt", value)


def strategy_in(text, game, player):
    """The strategy of a plan in a certificate; uniform where the plan does not come."""
    rows = naive.uniform(game, player)
    plan = re.search(rf"^plan {player} .*\n((?:\|.*\n)+)", text, re.M)[1]
    for infoset, *actions in map(str.split, plan.splitlines()):
        weights = {int(square): int(weight) for square, weight in (action.split("=") for action in actions)}
        rows[infoset] = [weights.get(square, 0) / sum(weights.values()) for square in range(game.squares)]
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("name", MARKED)
def test_a_value_with_marks_before_the_game_is_a_theorem(name, library, program, tmp_path, monkeypatch):
    """Just what brute force says of both plans is proven; with the marks of the other player, nothing is."""
    text, game = MARKED[name], named_game(name)
    value = Fraction(re.search(r"^claim (\S+)", text, re.M)[1])
    strategies = [strategy_in(text, game, player) for player in (0, 1)]
    found = [naive.best_response_value(game, p, strategies[1 - p]) for p in (0, 1)]
    assert found == pytest.approx([value, -value], abs=1e-12)
    monkeypatch.setattr(prove, "CERTIFICATES", tmp_path)
    zipped(text, tmp_path / f"{name}.txt.gz")
    prove.prove(library, name)
    with pytest.raises(prove.Refused):
        prove.prove(library, name, value + Fraction(1, 1000))
    assert proven_by(program, text) == f"proven: value = {value}"
    assert proven_by(program, re.sub("setup 0(.*)\nsetup 1(.*)", r"setup 0\2\nsetup 1\1", text)) is None
    assert proven_by(program, re.sub("setup.*\n", "", text)) is None


@pytest.mark.slow
def test_theorems_about_any_plans_rest_on_nothing_but_the_reals_axioms(library):
    theorems = ["proves_sound", "bounds_sound", "value_is_unique", "more_fuel", "proves_real_value"]
    printed = evaluated(
        library,
        "From Phantom Require Import Statement Positions Bounds Reals.\n"
        + "".join(f"Print Assumptions {theorem}.\n" for theorem in theorems),
    )
    *closed, rest = printed.split(prove.CLOSED)
    assert closed == [""] * 4
    axioms = set(re.findall(r"^(\S+)\s*:", rest, re.M)) - {"Axioms"}
    assert axioms <= {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
    }


def rules_text(game):
    """A game of the package as rules of the statement."""

    def lists(numbers):
        return "[" + "; ".join(map(str, numbers)) + "]"

    sets = [
        lists(lists(s for s in range(game.squares) if won >> s & 1) for won in game.winning_sets[p]) for p in (0, 1)
    ]
    setups = [lists(game.setup[player]) for player in (0, 1)]
    return (
        f"{{| squares := {game.squares}; classical := {str(game.turn_rule == 'classical').lower()};\n"
        f"  winning_sets := fun p => match p with Zero => {sets[0]} | One => {sets[1]} end;\n"
        f"  setup := fun p => match p with Zero => {setups[0]} | One => {setups[1]} end |}}"
    )


def lengths(game, player):
    """The infosets of a player by the number of own marks and attempts that they show."""
    texts = naive.infosets(game, player)
    return [sum(len(naive.attempts(text)) == k for text in texts) for k in range(game.squares + 1)]


def sample_payoff(history, seeds):
    """The payoff of the samples of Counts.v, by a walk in fractions."""
    if history.is_terminal():
        return Fraction(history.returns()[0])
    code = seeds[history.player]
    for square, placed in naive.attempts(history.nodes[history.player]):
        code = (31 * code + 2 * square + placed + 7) % 10007
    weights = {s: (code * (s + 3) + 5 * s) % 1009 % 6 + 1 for s in history.legal()}
    payoffs = (weight * sample_payoff(history.attempt(s), seeds) for s, weight in weights.items())
    return sum(payoffs) / sum(weights.values())


@pytest.mark.slow
def test_the_statement_means_the_packages_games(library):
    """Histories, ends of games, infosets by length, and payoffs of strategies: as a walk over histories finds them."""
    lines = [
        "From Coq Require Import List QArith.",
        "From Phantom Require Import Numbers Statement Counts.",
        "Import ListNotations.\nOpen Scope nat_scope.",
    ]
    expected = []
    for k, name in enumerate(COUNTED):
        game = named_game(name)
        lines.append(f"Definition game_{k} : rules := {rules_text(game)}.\nEval vm_compute in counts game_{k}.")
        expected.append([*naive.count_histories(game)[:2], *lengths(game, 0), *lengths(game, 1)])
        for seeds in SEEDS if name in PLAYED else []:
            lines.append(f"Eval vm_compute in Qcanon.this (sample_payoff game_{k} {seeds[0]} {seeds[1]}).")
            payoff = sample_payoff(naive.History.start(game), seeds)
            expected.append([payoff.numerator, payoff.denominator][: 2 - (payoff.denominator == 1)])
    printed = re.findall(r"= (.*?)\n\s+: ", evaluated(library, "\n".join(lines)), re.S)
    assert [[int(number) for number in re.findall(r"-?\d+", answer)] for answer in printed] == expected


@pytest.fixture(scope="session")
def program(library):
    """The checker in OCaml."""
    if not shutil.which("ocamlopt"):
        pytest.skip("OCaml is not installed: the extracted checker is not tried here")
    return prove.make_program(library)


def proven_by(program, text):
    """The last line of the extracted checker, or None if it refuses."""
    try:
        last = prove.run([program], program.parent, text.encode())[0].splitlines()[-1]
    except prove.Refused:
        return None
    return last


@pytest.mark.slow
def test_the_extracted_checker_proves_what_the_other_programs_prove(program, tmp_path):
    """Certificates of the collection, and certificates by lot, of which it accepts what is true."""
    for name in ("mini-2x3k3-abrupt", "dark-hex-3x3-abrupt", "pttt-classical", "dark-hex-3x2-classical"):
        assert proven_by(program, text_of(name)) == f"proven: value = {EXACT_VALUES[name]}"
        false = text_of(name).replace("claim ", "claim 1").replace("<= value <= ", "<= value <= 1")
        assert proven_by(program, false) is None
    path = tmp_path / "lot.txt.gz"
    accepted = 0
    for content, proven in files_by_lot(seed=61, number=200, path=path):
        if proven is not None:
            assert proven_by(program, gzip.decompress(content).decode("ascii")) == "proven: " + re.sub(
                r"(value = \S+) = .*", r"\1", proven
            )
            accepted += 1
    assert accepted > 20


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in EXACT_VALUES if name not in prove.LONG])
def test_more_values_are_theorems(name, library):
    prove.prove(library, name)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(set(SMALL) - set(EXACT_VALUES)))
def test_values_of_all_boards_of_up_to_six_squares_are_theorems(name, library, tmp_path, monkeypatch):
    pytest.importorskip("flint")
    pytest.importorskip("highspy")
    with pytest.raises(SystemExit):
        main(["certify", "--game", name, "--output", str(tmp_path / f"{name}.txt.gz")])
    monkeypatch.setattr(prove, "CERTIFICATES", tmp_path)
    assert prove.prove(library, name)[0] < 10  # processor seconds


@pytest.mark.long
@pytest.mark.parametrize(("file", "old", "new"), MUTANTS)
def test_a_checker_that_says_too_little_has_no_proof(file, old, new, library, tmp_path):
    assert SOURCES[file].count(old) == 1
    for name in prove.LIBRARY:
        for suffix in (".v", ".vo"):
            shutil.copy(library / f"{name}{suffix}", tmp_path)
    (tmp_path / file).write_text(SOURCES[file].replace(old, new))
    with pytest.raises(prove.Refused):
        for name in CHANGED[CHANGED.index(file.removesuffix(".v")) :]:
            prove.compile_file(tmp_path, name)
