"""The tree of errors: it stands at the head of its module, and every error of the package hangs on it."""

import re
from pathlib import Path

from pttt_ooc import errors

PACKAGE = Path(errors.__file__).parent
ALONE = {"UnconvertedError"}  # its module runs behind walls, without the package


def tree_of(kind, indent=""):
    own = [one for one in kind.__subclasses__() if one.__module__ == errors.__name__]
    return [f"{indent}{kind.__name__}", *(line for one in own for line in tree_of(one, f"{indent}  "))]


def test_the_tree_at_the_head_is_the_tree():
    told = [re.match(r" *\w+", line)[0] for line in errors.__doc__.split("```")[1].strip("\n").splitlines()]
    assert told == tree_of(errors.PtttError) + tree_of(errors.CaughtError)


def test_all_errors_hang_on_it_and_have_names_of_their_own():
    bases = {}
    for file in PACKAGE.rglob("*.py"):
        for name, above in re.findall(r"^class (\w+Error)\(([^)]*)\)", file.read_text(encoding="utf-8"), re.M):
            assert name not in bases, name
            bases[name] = set(re.findall(r"\w+", above))
    assert len(bases) > 40
    hanging = {"PtttError", "CaughtError"}
    for _ in range(5):
        hanging |= {name for name, above in bases.items() if above & hanging}
    assert set(bases) - ALONE == hanging
