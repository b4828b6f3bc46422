"""Write a certificate as a claim for the prover: python write_claim.py certificate.txt.gz Name [--value FRACTION]"""

import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from verify import Certificate  # noqa: E402

PIECE = 8000  # characters of one literal; a longer one overflows the prover's stack


def text_of(plan, weight):
    """The plan as a program for a stack of trees, see Reading.v."""
    words, todo = [], [plan]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            words.append(item)
        elif item is None:
            words.append(".")
        else:
            # Actions from the last to the first: each needs its successor on the stack.  Postfix order: failed, placed, next, action.
            actions = item[3]
            todo.append(None) if not actions else None
            parts = []
            for bit, weight, failed, placed in actions:
                number = f"{weight:x}" if failed is None and placed is None else ""
                parts.append((failed, placed, number + "ghijklmnopqrstuv"[bit.bit_length() - 1]))
            # failed1 placed1 (failed2 placed2 (... Stop action2)) action1
            order = [x for failed, placed, _ in parts for x in (failed, placed)]
            order += [None] + [word for *_, word in reversed(parts)]
            todo.extend(reversed(order))
    return "".join(words)


def main(path, name, value=None):
    certificate = Certificate()
    certificate.read(Path(path).read_bytes())
    rules = dict(line.partition(" ")[::2] for line in certificate.lines[1:3])
    lines = {p: certificate.lines[3 + p].split(" ")[2:] for p in (0, 1)}
    low, high = certificate.claim.split(" <= value <= ")
    value = Fraction(value or low)
    sets = ["; ".join("[" + "; ".join(str(int(s, 16)) for s in word) + "]" for word in lines[p]) for p in (0, 1)]
    print(f"(** Written from {Path(path).name}. *)")
    print("From Coq Require Import List String QArith.\nFrom Phantom Require Import Numbers Statement Checker Bounds Reading.")
    print("Import ListNotations.\nLocal Open Scope string_scope.\nLocal Close Scope Q_scope.\n")
    print(f"Definition {name} : rules := {{|\n  squares := {rules['squares']};")
    print(f"  winning_sets := fun p => match p with\n    | Zero => [{sets[0]}]\n    | One => [{sets[1]}] end;")
    print(f"  classical := {'true' if rules['turns'] == 'classical' else 'false'};\n  setup := fun _ => [] |}}.\n")
    for p, plan in zip(("zero", "one"), certificate.plans):
        text = text_of(plan, plan[2])
        print(f"Definition text_of_{p} : list string := [")
        print(";\n".join(f'"{text[k : k + PIECE]}"' for k in range(0, len(text), PIECE)))
        print("].\n")
    claim = f"Qmake ({value.numerator}) {value.denominator}"
    print(f"Theorem value_of_{name} : forall F, is_value {name} F (of_Q ({claim})).")
    print(f"Proof.\n  apply (proves_sound {name} (read text_of_zero) (read text_of_one)).")
    print("  vm_cast_no_check (eq_refl true).\nQed.\n")
    print(f"Print Assumptions value_of_{name}.")


if __name__ == "__main__":
    sys.setrecursionlimit(10000)
    main(*sys.argv[1:])
