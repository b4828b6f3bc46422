"""Whether claims hold: one verdict for each experiment, from tests that are corrected for their number.

Two families of p-values are each corrected by Holm's method: those of the claims, and those of the comparisons with
published rates.  Each family has a chance of at most 5% of any wrong sentence.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pttt_ooc.other_games.arena.experiments.significance import SIZE, Mean, Units, holm, told_detectable

_LIMIT = math.log10(SIZE)
_LEAST = 1e-320  # below it, there is no logarithm of a double


@dataclass(frozen=True)
class Question:
    """A test that a verdict needs.

    Attributes
    ----------
    kind
        ``difference``: that both agents are equally strong; ``equivalence``: that they are not, up to the margin;
        ``limit``: that the first is stronger by the margin.  What is rejected is the opposite of the claim.
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
    """The logarithm of the p-value that the rate is that of the published games; None if there are none."""
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
        That of :func:`compared`.
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
