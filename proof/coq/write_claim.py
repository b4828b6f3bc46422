"""Write a certificate as a claim for the prover: python write_claim.py CERTIFICATE.txt.gz [--value FRACTION]"""

import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import verify  # noqa: E402

PIECE = 8000  # digits of one literal: one of 30,000 overflows the prover's stack

CLAIM = """(** Written from {certificate} by write_claim.py. *)
From Coq Require Import List QArith.
From Phantom Require Import Numbers Statement Bounds Reading.
Import ListNotations.
Local Close Scope Q_scope.

Definition {name} : rules := {{|
  squares := {squares};
  winning_sets := fun p => match p with
    | Zero => {wins_0}
    | One => {wins_1}
    end;
  classical := {classical};
  setup := fun p => match p with Zero => {setup_0} | One => {setup_1} end |}}.

{plans}
Theorem value_of_{name} : forall F, is_value {name} F (of_Q (Qmake ({numerator}) {denominator})).
Proof.
  apply (proves_sound {name} plan_0 plan_1). vm_cast_no_check (eq_refl true).
Qed.

Print Assumptions value_of_{name}.
"""


class Certificate(verify.Certificate):
    """A certificate that may also have marks that lie before the game: `setup 0` and `setup 1`, before the claim."""

    setup = ["", ""]

    def after(self, start):
        if start == "claim" and "".join(self.lines[self.number : self.number + 1]).startswith("setup"):
            self.setup = [super(Certificate, self).after(f"setup {p}") for p in (0, 1)]
        return super().after(start)

    def infoset(self, p, text, own, fails, hidden, weight):
        if text == "|":  # the player knows nothing of the other's marks
            text += "".join(f"{square}*" for square in self.setup[p])
            own = sum(1 << int(square, 16) for square in self.setup[p])
            mine, theirs = len(self.setup[p]), len(self.setup[1 - p])
            hidden = theirs + (mine > theirs if mine != theirs else p)
        return super().infoset(p, text, own, fails, hidden, weight)


def told(infoset):
    """The actions at an infoset, from the first to the last, each with what is told after its trees."""
    actions = infoset[3]
    for k, (bit, weight, failed, placed) in enumerate(actions):
        flags = 4 * (failed is not None) + 2 * (placed is not None) + (k + 1 < len(actions))
        yield failed, placed, f"{flags:x}{bit.bit_length() - 1:x}", None if failed or placed else weight


def digits_of(plan):
    """The digits that make the plan (Reading.v), the weights they refer to, and the digits of such a reference."""
    words, todo = [], [plan]
    while todo:
        item = todo.pop()
        if len(item) == 4:  # an infoset: trees of its actions, then the actions themselves from the last to the first
            actions = list(told(item))
            todo += [action[2:] for action in actions]
            todo += [tree for action in reversed(actions) for tree in (action[1], action[0]) if tree]
        else:
            words.append(item)
    weights = sorted({weight for _, weight in words if weight is not None})
    places = {weight: k for k, weight in enumerate(weights)}
    digits = len(f"{max(len(weights) - 1, 0):x}")
    text = "".join(word if w is None else f"{word}{places[w]:0{digits}x}" for word, w in words)
    return text, weights, digits


def plan_text(player, plan):
    text, weights, digits = digits_of(plan)
    pieces = ";\n  ".join(f"0x{text[k : k + PIECE]}" for k in range(0, len(text), PIECE))
    return (
        f"Definition plan_{player} := read {digits}\n  [{'; '.join(f'0x{w:x}' for w in weights)}]%digits\n"
        f"  [{pieces}]%digits.\n"
    )


def squares_text(word):
    return "[" + "; ".join(str(int(square, 16)) for square in word) + "]"


def sets_text(word_list):
    return "[" + "; ".join(map(squares_text, word_list)) + "]"


def claim_text(path, value=None):
    """The file for the prover; `value` in place of what the certificate claims."""
    certificate = Certificate()
    certificate.read(path.read_bytes())
    low, high = (Fraction(x) for x in certificate.claim.split(" <= value <= "))
    if value is None and low != high:
        sys.exit(f"{path.name} proves an interval, and no value.")
    value = low if value is None else Fraction(value)
    return CLAIM.format(
        certificate=path.name,
        name=path.name.partition(".")[0].replace("-", "_"),
        squares=len(certificate.bits),
        wins_0=sets_text(certificate.lines[3].split()[2:]),
        wins_1=sets_text(certificate.lines[4].split()[2:]),
        setup_0=squares_text(certificate.setup[0]),
        setup_1=squares_text(certificate.setup[1]),
        classical="true" if certificate.classical else "false",
        plans="\n".join(plan_text(player, plan) for player, plan in enumerate(certificate.plans)),
        numerator=value.numerator,
        denominator=value.denominator,
    )


if __name__ == "__main__":
    if len(sys.argv) not in (2, 4) or sys.argv[2:3] not in ([], ["--value"]):
        sys.exit(__doc__)
    sys.setrecursionlimit(10000)
    print(claim_text(Path(sys.argv[1]), *sys.argv[3:]), end="")
