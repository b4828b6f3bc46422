"""The answers about strategies, as JSON values: of a game whose infosets are listed, or of plans where they are not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pttt_ooc.cfr.solving.evaluation import Evaluation
from pttt_ooc.errors import StoreError
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.rules.infoset_text import attempts_of, infoset_text
from pttt_ooc.games.structure.index import Index, build_index
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.games.structure.views import find_pairs
from pttt_ooc.library.questions.histories import read_only
from pttt_ooc.library.questions.infoset import beliefs, following, numbers
from pttt_ooc.library.questions.profile import PlayerArrays, PreparedProfile
from pttt_ooc.library.questions.sampled_games import row_at
from pttt_ooc.pipeline.stages.compilation import DOUBLE_ORACLE, ensure_compiled
from pttt_ooc.site.explore.flow import MOST, flow_of
from pttt_ooc.site.explore.listed_pair import ListedPair, infoset_record, known, pair_record, plain
from pttt_ooc.site.explore.profile_cache import Profiles
from pttt_ooc.site.service.answerer import AnswersByKind
from pttt_ooc.site.service.wire import Message

if TYPE_CHECKING:
    from pttt_ooc.library.questions.plan_pair import PlanPair
    from pttt_ooc.library.scoring.opponents import Opponents
    from pttt_ooc.pipeline.files.equilibrium import Support

BUDGET = 8_000_000_000
"""Most bytes of all profiles on disk."""

_BOARDS = 6
_FLOWS = 32  # of pairs of strategies and players


class PairAnswers(AnswersByKind):
    """Answers questions about pairs of strategies of one game; a subclass says where a ``pair`` comes from."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self._flows: dict[tuple[str, int], list[list[Message]]] = {}
        self._planned: tuple[PlanPair, Opponents] | None = None
        of_pair = {
            "facts": _facts,
            "row": _row,
            "flow": self._flow,
            "drawn": self._draw_infoset,
            "first_value": self._first_value,
            "estimate": self._estimate,
        }
        by_kind: dict[str, Callable[[Message], Message]] = {
            "infoset": self._infoset,
            "mistakes": self._mistakes,
            "differences": self._differences,
            **{kind: partial(self._answer_from_pair, tell) for kind, tell in of_pair.items()},
        }
        super().__init__(by_kind)

    def pair(self, records: Sequence[Message]) -> ListedPair | PlanPair | Message:
        """A pair of strategies, or how far its preparation is."""
        raise NotImplementedError

    def _answer_from_pair(
        self, tell: Callable[[ListedPair | PlanPair, Message], Message], question: Message
    ) -> Message:
        pair = self.pair(question["pair"])
        return {"preparing": pair} if isinstance(pair, dict) else tell(pair, question)

    def _infoset(self, question: Message) -> Message:
        """What happens at an infoset: ``pair``, ``player``, ``infoset``, ``square`` (or null), ``merged``.

        Also how likely the attempts on the way are; and, if there is ``other``, an infoset of the other player, what
        that player does there.
        """
        player, other = question["player"], question.get("other")
        infoset, pair = known(self.game, player, question["infoset"]), self.pair(question["pair"])
        if isinstance(pair, dict):
            return {"infoset": infoset, "preparing": pair}
        attempts = attempts_of(infoset)
        steps = range(len(self.game.setup[player]), len(attempts))
        return {
            "infoset": infoset,
            "facts": pair_record(pair),
            "equilibria": self._equilibria(player, infoset),
            "path": [float(pair.row(player, infoset_text(attempts[:n]))[attempts[n][0]]) for n in steps],
            "other_row": pair.row(1 - player, known(self.game, 1 - player, other)).tolist() if other else None,
            **infoset_record(pair, player, infoset, question["square"], bool(question.get("merged")), _BOARDS),
        }

    def _equilibria(self, player: int, infoset: str) -> Message | None:
        """What some equilibrium plays at an infoset; None if it is not known."""
        return None

    def _flow(self, pair: ListedPair | PlanPair, question: Message) -> Message:
        """Where the probability of a ``pair`` flows over the first attempts of ``player``; it is kept for later."""
        player = question["player"]
        key = json.dumps(question["pair"], sort_keys=True), player
        if key not in self._flows:
            following = partial(pair.next_infosets, player)
            levels = flow_of(self.game, player, partial(pair.row, player), following, pair.decides(player))
            self._flows[key] = [[plain(vars(one)) for one in level] for level in levels]
            while len(self._flows) > _FLOWS:
                del self._flows[next(iter(self._flows))]
        return {"levels": self._flows[key], "most": MOST}

    def _draw_infoset(self, pair: ListedPair | PlanPair, question: Message) -> Message:
        """An infoset of the other player, drawn from the beliefs of ``player`` at an ``infoset`` by a ``number``."""
        if not isinstance(pair, ListedPair):
            raise StoreError(f"The infosets of {self.game.name} are not listed, so that none is drawn from beliefs.")
        player = question["player"]
        return {"drawn": pair.draw_infoset(player, known(self.game, player, question["infoset"]), question["number"])}

    def _first_value(self, pair: ListedPair | PlanPair, question: Message) -> Message:
        """What losses of ``player`` against a ``pair`` are measured from: the value before the first attempt."""
        return {"value": self._opponents_of(pair).value_at_start(question["player"])}

    def _estimate(self, pair: ListedPair | PlanPair, question: Message) -> Message:
        """The payoff of ``player`` without luck, from a match against a ``pair``: ``squares``, ``given_up``."""
        from pttt_ooc.site.explore.match_estimates import estimate_of  # only the host asks for it

        player, squares, given_up = (question[name] for name in ("player", "squares", "given_up"))
        return {"estimate": estimate_of(self._opponents_of(pair), player, squares, given_up)}

    def _opponents_of(self, pair: ListedPair | PlanPair) -> Opponents:
        """A pair as known opponents; the latest plans keep the values that were searched."""
        from pttt_ooc.site.explore.match_estimates import opponents_of

        if isinstance(pair, ListedPair):
            return opponents_of(pair)
        if self._planned is None or self._planned[0] is not pair:
            self._planned = pair, opponents_of(pair)
        return self._planned[1]

    def _mistakes(self, question: Message) -> Message:
        """Refuse to tell where a strategy loses: ``player``, ``strategy``, ``equilibrium``, ``game_value``."""
        raise self._unlisted_error()

    def _differences(self, question: Message) -> Message:
        """Refuse to tell where strategies ``a`` and ``b`` of ``player`` differ in value against ``opponent``."""
        raise self._unlisted_error()

    def _unlisted_error(self) -> StoreError:
        return StoreError(
            f"The infosets of {self.game.name} are not listed, so that nothing is summed over all of them."
        )


def _facts(pair: ListedPair | PlanPair, question: Message) -> Message:
    """Value and best responses of a ``pair``."""
    return {"facts": pair_record(pair)}


def _row(pair: ListedPair | PlanPair, question: Message) -> Message:
    """The probabilities with which ``player``, of a ``pair``, attempts each square at an ``infoset``."""
    return {"row": pair.row(question["player"], question["infoset"]).tolist()}


class StrategyAnswers(PairAnswers):
    """Answers about strategies whose infosets are listed: they are prepared first.

    Parameters
    ----------
    directory
        The directory of profiles.
    game
        The game's name.
    indices
        The directory of all games' structures.
    """

    def __init__(self, directory: Path, game: str, indices: Path, budget: int = BUDGET) -> None:
        super().__init__(named_game(game))
        self.profiles = Profiles(directory, game, indices, budget)
        self._structure = indices / game / "full"
        self._support: Support | None = None

    def close(self) -> None:
        """Stop all work."""
        self.profiles.close()

    def pair(self, records: Sequence[Message]) -> ListedPair | Message:
        """A prepared pair, or how far its preparation is."""
        found = self.profiles.find(records)
        return ListedPair(found) if isinstance(found, PreparedProfile) else found

    def _equilibria(self, player: int, infoset: str) -> Message | None:
        """What some equilibrium plays at an infoset; None if it is not known: `pttt lab equilibria` finds it."""
        if self._support is None and (self._structure / "supports.zarr").is_dir():
            from pttt_ooc.pipeline.files.equilibrium import (
                stored_support,  # most games have none, and Zarr is slow to import
            )

            self._support = stored_support(self._structure, self.game)
        if self._support is None:
            return None
        attempts = tuple(attempts_of(infoset))[len(self.game.setup[player]) :]
        squares = self._support.played_squares(player, attempts)
        return {"met": squares is not None, "squares": squares or []}

    def _mistakes(self, question: Message) -> Message:
        return self.profiles.find_mistakes(
            question["player"], question["strategy"], question["equilibrium"], question["game_value"]
        )

    def _differences(self, question: Message) -> Message:
        return self.profiles.find_differences(question["player"], question["a"], question["b"], question["opponent"])


class PlanAnswers(PairAnswers):
    """Answers from one plan of each player, of a game whose infosets are not listed.

    Nothing is prepared.  Mistakes and differences are sums over all infosets, and are refused.
    """

    def __init__(self, plans: PlanPair) -> None:
        super().__init__(plans.game)
        self._pairs: dict[tuple[int, ...], PlanPair] = {(): plans}  # by the players with best responses

    def pair(self, records: Sequence[Message]) -> PlanPair:
        """The plans, or best responses in their places."""
        replying = tuple(player for player, one in enumerate(records) if one.get("best"))
        if replying not in self._pairs:
            self._pairs[replying] = self._pairs[()].with_reply(*replying)
        return self._pairs[replying]


@contextmanager
def answerer(directory: str, game: str, indices: str) -> Iterator[StrategyAnswers]:
    """The answers for a game, with profiles in `directory`; kernels are compiled first."""
    ensure_compiled(["evaluation"])
    warm_up()
    with closing(StrategyAnswers(Path(directory), game, Path(indices))) as answering:
        yield answering


@contextmanager
def plan_answerer(store: str) -> Iterator[PlanAnswers]:
    """The answers about the plan in a Zarr group; kernels are compiled before the first question."""
    from pttt_ooc.library.api.plan_reader import read_plan_pair  # strategies that are listed need no Zarr
    from pttt_ooc.library.api.strategy_names import named_strategy

    ensure_compiled(DOUBLE_ORACLE)
    plans = read_plan_pair(named_strategy(store, 0, plans=True))
    answering = PlanAnswers(plans)
    _ = plans.value, plans.best_responses
    yield answering


def warm_up() -> None:
    """Ask questions about the smallest game; this takes some seconds once, and compiled code is kept on disk."""
    game = named_game("mini-2x2k2-abrupt")
    index = build_index(game, "full", find_pairs(game))
    for dtype in (np.float32, np.float64):
        first, second = (_uniform(index, player, dtype) for player in (0, 1))
        profile = PreparedProfile(index, (first, second), Evaluation(0, 0, 0, 0, None, None, None, 0))
        numbers(profile, 0, "|")
        following(profile, 0, "|")
        beliefs(index, profile.strategies[1], 0, "|")
        row_at(profile.strategies[0], "|")


def _uniform(index: Index, player: int, dtype: type[np.floating[Any]]) -> PlayerArrays:
    """A player's part of a profile, read-only like a mapped one."""
    nodes = index.players[player].nodes
    values, choices = np.zeros(nodes), np.zeros(nodes, np.uint8)  # any numbers will do
    values.flags.writeable = False
    return PlayerArrays(read_only(uniform_strategy(index, player, dtype).probabilities), values, values, choices)
