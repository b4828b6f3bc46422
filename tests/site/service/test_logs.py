"""What the servers log: `logging` refuses facts with the names of its own, but only where it writes them."""

import ast
import logging
from pathlib import Path

import pytest

import pttt_ooc

PACKAGE = Path(pttt_ooc.__file__).parent
RESERVED = set(vars(logging.makeLogRecord({}))) | {"message", "asctime"}


def names_of(facts, function):
    """The names in a dictionary's text; those of a variable are in the dictionaries that the function gives it."""
    if isinstance(facts, ast.Dict):
        for key, value in zip(facts.keys, facts.values, strict=True):
            yield from [key.value] if key is not None else names_of(value, function)
        return
    given = [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == ast.unparse(facts)
    ]
    assert given, f"nobody can tell what {ast.unparse(facts)} holds"
    for value in given:
        yield from names_of(value, function)


def facts_of(tree):
    """The names of the facts that a module logs."""
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]:
        for call in [node for node in ast.walk(function) if isinstance(node, ast.Call)]:
            if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "log":
                for keyword in call.keywords:
                    if keyword.arg == "extra":
                        yield from names_of(keyword.value, function)


@pytest.mark.slow
def test_no_fact_has_a_name_of_loggings_own():
    found = {path: set(facts_of(ast.parse(path.read_text("utf-8")))) for path in PACKAGE.rglob("*.py")}
    assert sum(map(len, found.values())) > 20
    assert not {str(path): names & RESERVED for path, names in found.items() if names & RESERVED}


def test_the_tests_log_what_servers_log():
    with pytest.raises(KeyError, match="message"):
        logging.getLogger("pttt.anything").info("checked", extra={"message": "a verdict"})
