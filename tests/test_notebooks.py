"""The notebooks in examples/: their cells run from top to bottom, and print what they promise."""

import ast
import json
import sys
from pathlib import Path

import pytest

import pttt_ooc as pttt

EXAMPLES = Path(__file__).parent.parent / "examples"
NOTEBOOKS = {path.stem for path in EXAMPLES.glob("*.ipynb")}


def cells(name, kind):
    content = json.loads((EXAMPLES / f"{name}.ipynb").read_text())
    assert content["nbformat"] == 4
    return ["".join(cell["source"]) for cell in content["cells"] if cell["cell_type"] == kind]


def run(name):
    """Execute the cells as a notebook does, and return their variables and the values of their last lines."""
    space, shown = {"__name__": "__main__"}, []
    for text in cells(name, "code"):
        tree = ast.parse(text, f"{name}.ipynb")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{name}.ipynb", "exec"), space)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), f"{name}.ipynb", "eval"), space))
    return space, shown


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delitem(sys.modules, "eas", raising=False)
    yield
    sys.modules.pop("eas", None)


def test_there_is_one_for_each_audience():
    assert sorted(NOTEBOOKS) == ["instructor", "researcher", "student"]
    for name in NOTEBOOKS:
        stored = json.loads((EXAMPLES / f"{name}.ipynb").read_text())["cells"]
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in stored), "outputs are not stored"
        assert cells(name, "markdown")[0].startswith("# ")


def test_student(place, capsys):
    space, shown = run("student")
    out = capsys.readouterr().out
    assert shown[-1] == "pttt_pl0.zip" and abs(sum(shown[0]) - 1) < 1e-9
    assert "The value of the game is 0.7647." in out
    found = pttt.evaluate(space["mine"], pttt.Strategy.uniform(space["game"], 1))
    assert f"my strategy gets {-found.best_response_1:.4f}" in out


@pytest.mark.slow
def test_researcher(place, capsys):
    space, _ = run("researcher")
    out = capsys.readouterr().out
    assert "uniform: 0.8952" in out, "half of the sum that docs/score.md has"
    assert "iteration 100" in out and "stochastic: mean exploitability" in out and "greedy: mean exploitability" in out
    assert space["found"].loss.low > 0


def test_instructor(place, capsys):
    space, shown = run("instructor")
    out = capsys.readouterr().out
    assert shown[0] == ["ada.zip", "ben.zip", "cleo.zip"]
    assert [*space["accepted"]] == ["ada", "ben"] and "cleo   refused: " in out
    assert "ada    exploitability 0.0000, points 100" in out and space["worst"] == "ben"
