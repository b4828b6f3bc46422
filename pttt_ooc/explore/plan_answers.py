"""The answers about the plan of a game whose infosets are not listed, as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pttt_ooc.errors import StoreError
from pttt_ooc.explore.json_values import around, infoset_record, known, plain
from pttt_ooc.library.plan_reader import read_plan_pair
from pttt_ooc.library.strategy_names import named_strategy
from pttt_ooc.questions.plan_pair import PlanPair
from pttt_ooc.service.answerer import AnswersByKind
from pttt_ooc.service.wire import Message
from pttt_ooc.stages.compilation import ensure_compiled

_BOARDS = 6


class PlanAnswers(AnswersByKind):
    """Answers the questions of :class:`pttt_ooc.explore.answers.StrategyAnswers` from one plan of each player.

    Nothing is prepared.  Mistakes and differences are sums over all infosets, and are refused, and so is the map.
    """

    def __init__(self, plans: PlanPair) -> None:
        self.game = plans.game
        self._pairs: dict[tuple[int, ...], PlanPair] = {(): plans}  # by the players who reply
        by_kind: dict[str, Callable[[Message], Message]] = {
            "infoset": self._infoset,
            "facts": lambda question: {"facts": _facts(self._pair(question["pair"]))},
            "row": self._row,
            "flow": self._refuse,
            "drawn": self._refuse_drawn,
            "mistakes": self._refuse,
            "differences": self._refuse,
        }
        super().__init__(by_kind)

    def _infoset(self, question: Message) -> Message:
        player, square = question["player"], question["square"]
        infoset = known(self.game, player, question["infoset"])
        pair = self._pair(question["pair"])
        facts = {"infoset": infoset, "facts": _facts(pair), "equilibria": None}
        facts |= around(self.game, question, infoset, lambda who, text: pair.row(who, text).tolist())
        if question.get("merged"):
            both = pair.merged(player, infoset, square, _BOARDS)
            return {**facts, **infoset_record(both.images, both.classes, both.numbers, both.beliefs, both.outcomes)}
        numbers = pair.numbers(player, infoset)
        ways = pair.following(player, infoset, square) if square in numbers.legal else ()
        classes = [(legal,) for legal in numbers.legal]
        return {**facts, **infoset_record((infoset,), classes, numbers, pair.beliefs(player, infoset, _BOARDS), ways)}

    def _row(self, question: Message) -> Message:
        row: list[float] = self._pair(question["pair"]).row(question["player"], question["infoset"]).tolist()
        return {"row": row}

    def _pair(self, records: Sequence[Message]) -> PlanPair:
        replying = tuple(player for player, one in enumerate(records) if one.get("best"))
        if replying not in self._pairs:
            self._pairs[replying] = self._pairs[()].with_reply(*replying)
        return self._pairs[replying]

    def _refuse_drawn(self, question: Message) -> Message:
        raise StoreError(f"The infosets of {self.game.name} are not listed, so that none is drawn from beliefs.")

    def _refuse(self, question: Message) -> Message:
        raise StoreError(
            f"The infosets of {self.game.name} are not listed, so that nothing is summed over all of them."
        )


def _facts(pair: PlanPair) -> Message:
    return {"value": pair.value, "best_responses": plain(pair.best_responses)}


@contextmanager
def answerer(store: str) -> Iterator[PlanAnswers]:
    """The answers about the plan in a Zarr group; kernels are compiled before the first question."""
    ensure_compiled()
    plans = read_plan_pair(named_strategy(store, 0, plans=True))
    answering = PlanAnswers(plans)
    _ = plans.value, plans.best_responses
    yield answering
