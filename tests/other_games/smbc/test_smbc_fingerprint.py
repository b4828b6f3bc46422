"""The fingerprint of the state of a solve."""

from pttt_ooc.imports import PLAIN
from pttt_ooc.other_games.smbc import solve
from pttt_ooc.other_games.smbc.match import SolveSettings


def test_a_fingerprint_depends_on_settings_and_the_code_of_the_numbers(monkeypatch):
    hashed = []
    monkeypatch.setattr(solve, "code_digest", lambda names: hashed.append(sorted(names)) or "x")
    one = solve.fingerprint(SolveSettings())
    assert {
        "other_games/smbc/match",
        "other_games/smbc/round",
        "other_games/smbc/kernels",
        "other_games/smbc/rules",
    } <= set(hashed[0])
    assert not any(name.startswith(PLAIN) for name in hashed[0])
    assert solve.fingerprint(SolveSettings()) == one != solve.fingerprint(SolveSettings(winning_score=4))
    monkeypatch.setattr(solve, "code_digest", lambda names: "y")
    assert solve.fingerprint(SolveSettings()) != one
