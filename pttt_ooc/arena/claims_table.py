"""Results of experiments as a table in Markdown: claim, theirs, ours, verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pttt_ooc.arena.experiments import RESULT
from pttt_ooc.arena.games.base import ArenaError

_HEAD = "| claim | theirs | ours | verdict |\n|---|---|---|---|\n"
_SERIES = "| value | score | interval | games |\n|---|---|---|---|\n"
_TIMES = "| value | milliseconds | nodes | games |\n|---|---|---|---|\n"


def read_results(directory: Path) -> list[dict[str, Any]]:
    """The results of all experiments in a directory.

    Raises
    ------
    ArenaError
        There are none.
    """
    results = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(directory.glob(f"*/{RESULT}"))]
    if not results:
        raise ArenaError(f"{directory} has no results of experiments; pttt arena experiment makes them.")
    return results


def claims(results: list[dict[str, Any]]) -> str:
    """A row for each experiment that is one match."""
    return _HEAD + "".join(
        f"| {one['claim']} | {theirs(one)} | {ours(one)} | {one['verdict']} |\n"
        for one in results
        if one["values"] is None and one["test"] != "none"
    )


def theirs(one: dict[str, Any]) -> str:
    """The published result."""
    claimed = one["theirs"]
    if claimed["ratio"] is not None:
        return f"{claimed['ratio']:g} : 1"
    return "" if claimed["rate"] is None else f"{claimed['rate']:.2%} (n = {claimed['games']:,})"


def columns(one: dict[str, Any]) -> dict[str, Any]:
    """The columns of an experiment that is one match: the score with its interval, and the claim's test."""
    match = one["matches"][0]
    row = {"claim": one["claim"], "theirs": theirs(one), "verdict": one["verdict"], "note": one["note"]}
    row |= {"games": match["wins"] + match["draws"] + match["losses"]}
    if one["test"] == "time":
        times = [match[f"mean_of_agent_{agent}"]["processor_milliseconds"] for agent in (0, 1)]
        return row | {"ours": f"{times[0]:.3g} ms : {times[1]:.3g} ms", "interval": "", "test": ""}
    low, high = match["interval"]
    if one["test"] == "equal":
        test = f"χ² = {match['chi_square']:.3g}, p = {match['chi_square_p']:.3g}"
    else:
        test = f"p = {10 ** match['log10_p']:.2g}" if match["log10_p"] > -4 else f"p = 10^{match['log10_p']:.0f}"
    return row | {"ours": f"{match['rate']:.2%}", "interval": f"{low:.2%} to {high:.2%}", "test": test}


def ours(one: dict[str, Any]) -> str:
    """Our result."""
    row = columns(one)
    return f"{row['ours']} ({row['interval']}; n = {row['games']:,}; {row['test']})" if row["test"] else row["ours"]


def series(one: dict[str, Any]) -> str:
    """A row for each match of a series: the score, or the cost of a move of the first agent."""
    rows = ""
    for match in one["matches"]:
        games = match["wins"] + match["draws"] + match["losses"]
        if one["test"] == "time":
            mean = match["mean_of_agent_0"]
            cells = f"{mean['processor_milliseconds']:.3g} | {mean['nodes']:,.0f}"
        else:
            low, high = match["interval"]
            cells = f"{match['rate']:.2%} | {low:.2%} to {high:.2%}"
        rows += f"| {match['value']} | {cells} | {games:,} |\n"
    return (_TIMES if one["test"] == "time" else _SERIES) + rows


def everything(results: list[dict[str, Any]]) -> str:
    """All tables."""
    text = claims(results)
    for one in results:
        if one["values"] is not None:
            text += f"\n{one['claim']} ({one['agents'][0]} against {one['agents'][1]}):\n\n{series(one)}"
    return text
