"""Whether claims hold, and results of experiments and trainings as tables in Markdown.

There is one verdict for each experiment.  Two families of p-values are each corrected by Holm's method: those of the
claims, and those of the comparisons with published rates.  The family-wise error rate of each is at most 5%.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pttt_ooc.other_games.arena.experiments.experiment import RESULT
from pttt_ooc.other_games.arena.experiments.significance import SIZE, Mean, Units, holm, told_detectable
from pttt_ooc.other_games.arena.experiments.trainings import RESULT as TRAININGS
from pttt_ooc.other_games.arena.experiments.trainings import decisive_share, share, stretches
from pttt_ooc.other_games.arena.games.base import ArenaError

_LIMIT = math.log10(SIZE)
_LEAST = 1e-320  # the least p-value whose logarithm is taken


@dataclass(frozen=True)
class Question:
    """A test that a verdict needs.

    Attributes
    ----------
    kind
        The null hypothesis.  ``difference``: both agents are equally strong; ``equivalence``: they differ by the margin
        or more; ``limit``: the first is stronger by the margin or more.
    log10_p
        The decimal logarithm of the p-value, before any correction.
    """

    kind: str
    log10_p: float


def questions(experiment: Mapping[str, Any]) -> list[Question]:
    """The tests behind an experiment's verdict, the claim's own first; none for series and times."""
    found = sample(experiment)
    if found is None:
        return []
    difference, margin = Question("difference", found.log10_p), experiment["margin"]
    if isinstance(found, Mean) or experiment["test"] == "better":
        return [difference]
    units = found
    if experiment["test"] == "equal":
        return [Question("equivalence", _log(units.equivalence_p(margin))), difference]
    return [Question("limit", _log(units.below_p(0.5 + margin))), difference]


def sample(experiment: Mapping[str, Any]) -> Units | Mean | None:
    """What a claim is judged by: the units of its match, or the scores of trainings; None if there is no claim."""
    if experiment["test"] == "trainings":
        return Mean(tuple(Units.of(match).rate for match in experiment["matches"]))
    if experiment["values"] is not None or experiment["test"] in ("none", "time"):
        return None
    return Units.of(experiment["matches"][0])


def log_p_value(experiment: Mapping[str, Any]) -> float | None:
    """The logarithm of the p-value for equality with the published rate; None if there is none."""
    theirs, found = experiment["theirs"], sample(experiment)
    if found is None or theirs["rate"] is None or theirs["games"] is None:
        return None
    return _log(found.differs_p(theirs["rate"], theirs["games"]))


def judge(experiments: Sequence[Mapping[str, Any]]) -> list[str]:
    """The verdicts on all experiments, whose tests are corrected for the number of tests in this list."""
    asked = [questions(one) for one in experiments]
    own = iter(holm([question.log10_p for some in asked for question in some]))
    rates = [log_p_value(one) for one in experiments]
    others = iter(holm([log for log in rates if log is not None]))
    found = []
    for one, some, rate in zip(experiments, asked, rates, strict=True):
        logs = {question.kind: next(own) for question in some}
        other = None if rate is None else next(others)
        found.append(verdict(one, logs, other))
    return found


def verdict(experiment: Mapping[str, Any], logs: Mapping[str, float], other: float | None) -> str:
    """Whether a claim holds, in words.

    Parameters
    ----------
    logs
        Corrected logarithms of the p-values of :func:`questions`, by their kinds.
    other
        The corrected :func:`log_p_value`, or None.
    """
    if experiment["test"] == "time" and experiment["values"] is None:
        return _of_times(experiment)
    units = sample(experiment)
    if units is None:
        return "see the curve"
    margin, test = experiment["margin"], experiment["test"]
    found = logs["difference"] < _LIMIT
    better = units.rate > 0.5
    if test in ("better", "trainings"):
        rate = experiment["theirs"]["rate"]
        sentence = "undecided" if not found else "holds" if better == (rate is None or rate > 0.5) else "refuted"
    elif test == "equal":
        sentence = "holds" if logs["equivalence"] < _LIMIT else "refuted" if found else "undecided"
    else:
        sentence = "holds" if logs["limit"] < _LIMIT else "refuted" if found and better else "undecided"
    if found and test not in ("better", "trainings"):
        sentence += f": it is {'better' if better else 'worse'}"
        sentence += f", by less than {margin:.0%}" if sentence.startswith("holds") and test == "equal" else ""
    if sentence == "undecided":
        sentence += f": {told_detectable(units.detectable)}"
    if other is not None:
        sentence += "; the rate differs from theirs" if other < _LIMIT else "; no difference from their rate is found"
    return sentence


def _of_times(experiment: Mapping[str, Any]) -> str:
    first, second = (experiment["matches"][0][f"mean_of_agent_{n}"]["processor_milliseconds"] for n in (0, 1))
    ratio, theirs = first / second, experiment["theirs"]["ratio"]
    same = theirs is None or 0.5 < ratio / theirs < 2
    return f"{'holds' if ratio > 1 else 'fails'}: {ratio:.1f} times{'' if same else '; the ratio differs'}"


def _log(p: float) -> float:
    return math.log10(max(p, _LEAST))


_HEAD = "| claim | theirs | ours | detectable | verdict |\n|---|---|---|---|---|\n"
_SERIES = "| value | score | interval | games |\n|---|---|---|---|\n"
_TIMES = "| value | milliseconds | nodes | games |\n|---|---|---|---|\n"
_TRAININGS = (
    "| training | games | theirs | ours, draws for player 1 | deviation | interval | one more training | "
    "without draws | seeds | seconds each |\n|---|---|---|---|---|---|---|---|---|---|\n"
)


def read_results(directory: Path) -> list[dict[str, Any]]:
    """The results of all experiments and trainings in a directory.

    Raises
    ------
    ArenaError
        There are none.
    """
    files = sorted(file for name in (RESULT, TRAININGS) for file in directory.glob(f"*/{name}"))
    results = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    if not results:
        raise ArenaError(f"{directory} has no results of experiments; pttt lab experiment makes them.")
    return results


def single(results: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The experiments with a single claim: each is a row of the table, and their tests form one family."""
    return [
        one
        for one in results
        if "matches" in one and (one["test"] == "trainings" or (one["values"] is None and one["test"] != "none"))
    ]


def claims(results: Sequence[dict[str, Any]]) -> str:
    """A row for each experiment with a single claim."""
    chosen = single(results)
    return _HEAD + "".join(
        f"| {row['claim']} | {row['theirs']} | {ours(row)} | {row['detectable']} | {row['verdict']} |\n"
        for row in (columns(one, verdict) for one, verdict in zip(chosen, judge(chosen), strict=True))
    )


def theirs(one: Mapping[str, Any]) -> str:
    """The published result."""
    claimed = one["theirs"]
    if claimed["ratio"] is not None:
        return f"{claimed['ratio']:g} : 1"
    if claimed["rate"] is None:
        return ""
    return f"{claimed['rate']:.2%}" + (f" (n = {claimed['games']:,})" if claimed["games"] else "")


def columns(one: Mapping[str, Any], verdict: str) -> dict[str, Any]:
    """The columns of an experiment with a single claim: the score with its interval, and the claim's test."""
    match, units = one["matches"][0], sample(one)
    row = {"claim": one["claim"], "theirs": theirs(one), "verdict": verdict, "note": one["note"]}
    row |= {"games": sum(part["wins"] + part["draws"] + part["losses"] for part in one["matches"])}
    if units is None:
        times = [match[f"mean_of_agent_{agent}"]["processor_milliseconds"] for agent in (0, 1)]
        return row | {"ours": f"{times[0]:.3g} ms : {times[1]:.3g} ms", "interval": "", "test": "", "detectable": ""}
    low, high = units.interval
    names = {"difference": "", "equivalence": "TOST ", "limit": "one-sided "}
    asked = questions(one)[0]
    test = f"{names[asked.kind]}{p_text(asked.log10_p)}"
    if isinstance(units, Mean):
        test = f"{units.number} trainings; {test}"
    return row | {
        "ours": f"{units.rate:.2%}",
        "interval": f"{low:.2%} to {high:.2%}",
        "test": test,
        "detectable": f"{100 * units.detectable:.1f}" if units.detectable <= 0.5 else "none",
    }


def p_text(log10_p: float) -> str:
    """A p-value for a table."""
    return f"p = {10**log10_p:.2g}" if log10_p > -4 else f"p = 10^{log10_p:.0f}" if log10_p > -300 else "p < 10^-300"


def ours(row: Mapping[str, Any]) -> str:
    """Our result, from the columns."""
    return f"{row['ours']} ({row['interval']}; n = {row['games']:,}; {row['test']})" if row["test"] else row["ours"]


def series(one: Mapping[str, Any]) -> str:
    """A row for each match of a series: the score, or the cost of a move of the first agent."""
    rows = ""
    for match in one["matches"]:
        games = match["wins"] + match["draws"] + match["losses"]
        if one["test"] == "time":
            mean = match["mean_of_agent_0"]
            cells = f"{mean['processor_milliseconds']:.3g} | {mean['nodes']:,.0f}"
        else:
            units = Units.of(match)
            low, high = units.interval
            cells = f"{units.rate:.2%} | {low:.2%} to {high:.2%}"
        rows += f"| {match['value']} | {cells} | {games:,} |\n"
    return (_TIMES if one["test"] == "time" else _SERIES) + rows


def trainings(results: Sequence[Mapping[str, Any]]) -> str:
    """A row for each learner: the mean over its trainings, and the interval in which one more of them lies."""
    rows = ""
    for one in results:
        ends = [row["curve"][-1] for row in one["trainings"]]
        percent = Mean(tuple(100 * share(end) for end in ends))
        without = Mean(tuple(100 * decisive_share(end) for end in ends))
        seconds = Mean(tuple(row["seconds"] for row in one["trainings"]))
        (low, high), (least, most) = percent.interval, percent.prediction
        claimed = "" if one["theirs"]["rate"] is None else f"{100 * one['theirs']['rate']:.0f}"
        rows += (
            f"| {one['claim']} | {one['games']:,} | {claimed} | {percent.mean:.1f} | {percent.deviation:.2f} | "
            f"{low:.1f} to {high:.1f} | {least:.1f} to {most:.1f} | {without.mean:.1f} | {len(ends)} | "
            f"{seconds.mean:.1f} |\n"
        )
    return _TRAININGS + rows


def curves(results: Sequence[Mapping[str, Any]], marks: Sequence[int]) -> str:
    """Player 1's mean share, draws included, of the games between one checkpoint and the next."""
    head = "| games so far | " + " | ".join(one["claim"] for one in results) + " |\n"
    rows = "|---" * (len(results) + 1) + "|\n"
    for mark in marks:
        cells = []
        for one in results:
            parts = [dict((row[0], row) for row in stretches(each["curve"])) for each in one["trainings"]]
            there = [100 * share(part[mark]) for part in parts if mark in part]
            cells.append(f"{Mean(tuple(there)).mean:.1f}" if there else "")
        rows += f"| {mark:,} | {' | '.join(cells)} |\n"
    return head + rows


def greedy(results: Sequence[Mapping[str, Any]]) -> str:
    """Games after each training, without random moves: how often player 1 wins, and in how many trainings it leads."""
    rows = "| training | games won by player 1 | drawn | won by player 2 | trainings that player 1 leads |\n"
    rows += "|---|---|---|---|---|\n"
    for one in results:
        ends = [row["greedy"] for row in one["trainings"]]
        first, second, drawn = (sum(counts) for counts in zip(*ends, strict=True))
        leads = sum(end[0] > end[1] for end in ends)
        rows += f"| {one['claim']} | {first} | {drawn} | {second} | {leads} of {len(ends)} |\n"
    return rows


def losses_table(results: Sequence[Mapping[str, Any]]) -> str:
    """How many of each player's tables on a small board lose no game, and the most games that one loses."""
    rows = "| training | games | tables of player 1 that never lose | of player 2 "
    rows += "| most games lost by player 1 | by player 2 |\n" + "|---" * 6 + "|\n"
    for one in results:
        both = list(zip(*(row["lost"] for row in one["trainings"]), strict=True))
        never = " | ".join(f"{counts.count(0)} of {len(counts)}" for counts in both)
        rows += f"| {one['claim']} | {one['games']:,} | {never} | {' | '.join(str(max(counts)) for counts in both)} |\n"
    return rows


def opponents(results: Sequence[Mapping[str, Any]]) -> str:
    """Matches of several trainings against an opponent; the training is the unit."""
    rows = "| agent | against | score | deviation | interval | one more training | trainings | games each |\n"
    rows += "|---" * 8 + "|\n"
    for one in results:
        percent = Mean(tuple(100 * Units.of(match).rate for match in one["matches"]))
        (low, high), (least, most) = percent.interval, percent.prediction
        first, second = (agent.replace("{}", "SEED") for agent in one["agents"])
        rows += (
            f"| `{first}` | `{second}` | {percent.mean:.1f}% | {percent.deviation:.1f} | {low:.1f}% to "
            f"{min(high, 100):.1f}% | {least:.1f}% to {min(most, 100):.1f}% | {len(one['matches'])} | "
            f"{one['games']:,} |\n"
        )
    return rows


def everything(results: Sequence[dict[str, Any]]) -> str:
    """All tables."""
    text = claims(results) if any("matches" in one for one in results) else ""
    for one in results:
        if "matches" in one and one["values"] is not None and one["test"] != "trainings":
            text += f"\n{one['claim']} ({one['agents'][0]} against {one['agents'][1]}):\n\n{series(one)}"
    trained = [one for one in results if "trainings" in one]
    return text + ("\n" * bool(text) + trainings(trained) if trained else "")
