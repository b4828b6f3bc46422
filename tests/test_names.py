"""Names: functions are verbs, or nouns where they only convert; none is a bare participle, such as ``shown``."""

import ast
import re
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "pttt_ooc"
IRREGULAR = re.compile(
    r"begun|bent|bound|bought|broken|brought|built|caught|chosen|dealt|done|drawn|driven|eaten|fallen|fed|felt|"
    r"forgotten|found|frozen|given|gone|grown|heard|held|hidden|kept|known|laid|led|left|lent|lost|made|meant|met|"
    r"paid|risen|said|seen|sent|shown|shut|sold|sought|spent|spoken|stolen|struck|taken|taught|told|thought|thrown|"
    r"torn|understood|won|worn|written"
)
NOUNS = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed"}


def is_participle(name):
    """Whether a name is one word, and that a participle."""
    word = name.strip("_")
    return bool(IRREGULAR.fullmatch(word)) or (
        word.isalpha() and word.endswith("ed") and len(word) > 4 and word not in NOUNS
    )


def bare_participles(text):
    """The functions and methods of a module whose whole name is a participle; properties are not functions."""
    if not any(map(is_participle, re.findall(r"\bdef (\w+)\(", text))):
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and is_participle(node.name):
            decorators = {ast.unparse(one).partition("(")[0].rpartition(".")[2] for one in node.decorator_list}
            if not decorators & {"property", "cached_property"}:
                yield node.name


def test_no_function_is_called_by_a_participle():
    found = {
        f"{file.relative_to(PACKAGE)}: {name}"
        for file in PACKAGE.rglob("*.py")
        for name in bare_participles(file.read_text(encoding="utf-8"))
    }
    assert found == set()
