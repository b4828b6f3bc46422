"""Strategies that commands read by a name, and the solution that is read where none is named."""

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.api import strategy_reader


def test_the_best_solution_is_the_one_with_the_narrowest_interval(tmp_path, monkeypatch):
    """Wherever the interval lies, and whichever is found first; one without an interval is the last."""
    known = {"a": (-1.0, -0.4), "b": (0.5, 0.6), "c": None}
    monkeypatch.setattr(strategy_reader, "runs_of", lambda results: [tmp_path / name for name in known])
    monkeypatch.setattr(strategy_reader, "strategies_of", lambda results: results.name)
    monkeypatch.setattr(strategy_reader, "solution_attrs", lambda name: {"name": name})
    monkeypatch.setattr(strategy_reader, "_value_in", lambda attrs: known[attrs["name"]])
    game = named_game("mini-2x2k2-abrupt")
    assert strategy_reader.best_solution(game, tmp_path).name == "b"
    del known["b"]
    assert strategy_reader.best_solution(game, tmp_path).name == "a"
