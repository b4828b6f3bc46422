"""The answers about strategies, as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pttt_ooc.explore.flow import flow_of
from pttt_ooc.explore.json_values import around, flow_record, infoset_record, known
from pttt_ooc.explore.profiles import Profiles
from pttt_ooc.questions.beliefs import beliefs, drawn_infoset
from pttt_ooc.questions.continuations import following
from pttt_ooc.questions.infoset import numbers
from pttt_ooc.questions.mirror_merge import merged
from pttt_ooc.questions.profile import PreparedProfile
from pttt_ooc.questions.sampled_games import row_at
from pttt_ooc.questions.warm_up import warm_up
from pttt_ooc.rules.catalogue import named_game
from pttt_ooc.rules.infoset_text import attempts_of
from pttt_ooc.rules.play import first_infoset
from pttt_ooc.service.answerer import AnswersByKind
from pttt_ooc.service.wire import Message
from pttt_ooc.stages.compilation import ensure_compiled

if TYPE_CHECKING:
    from pttt_ooc.products.equilibrium import Support

BUDGET = 8_000_000_000
"""Most bytes of all profiles on disk."""

_BOARDS = 6
_FLOWS = 32  # of pairs of strategies and players


class StrategyAnswers(AnswersByKind):
    """Answers questions about strategies of one game.

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
        self.game = named_game(game)
        self.profiles = Profiles(directory, game, indices, budget)
        self._structure = indices / game / "full"
        self._support: Support | None = None
        self._flows: dict[tuple[str, int], list[list[Message]]] = {}
        by_kind: dict[str, Callable[[Message], Message]] = {
            "infoset": self._infoset,
            "facts": self._facts,
            "row": self._row,
            "flow": self._flow,
            "drawn": self._drawn,
            "mistakes": self._mistakes,
            "differences": self._differences,
        }
        super().__init__(by_kind)

    def close(self) -> None:
        """Stop all work."""
        self.profiles.close()

    def _infoset(self, question: Message) -> Message:
        """What happens at an infoset: ``pair``, ``player``, ``infoset``, ``square`` (or null), ``merged``.

        If there is ``other``, an infoset of the other player, also what that player does there.
        """
        player = question["player"]
        infoset = known(self.game, player, question["infoset"])
        pair = self.profiles.find(question["pair"])
        if not isinstance(pair, PreparedProfile):
            return {"infoset": infoset, "preparing": pair}
        told = _merged if question.get("merged") else _alone
        facts = {"facts": _facts(pair), "equilibria": self._equilibria(player, infoset)}
        facts |= around(self.game, question, infoset, lambda who, text: row_at(pair.strategies[who], text).tolist())
        return {"infoset": infoset, **facts, **told(pair, player, infoset, question["square"])}

    def _equilibria(self, player: int, infoset: str) -> Message | None:
        """What some equilibrium plays at an infoset; None if it is not known: `pttt equilibria` finds it."""
        if self._support is None and (self._structure / "supports.zarr").is_dir():
            from pttt_ooc.products.equilibrium import stored_support  # most games have none, and Zarr is slow to import

            self._support = stored_support(self._structure, self.game)
        if self._support is None:
            return None
        attempts = tuple(attempts_of(infoset))[len(self.game.setup[player]) :]
        squares = self._support.played(player, attempts)
        return {"met": squares is not None, "squares": squares or []}

    def _facts(self, question: Message) -> Message:
        """Value and best responses of a ``pair``."""
        pair = self.profiles.find(question["pair"])
        return {"facts": _facts(pair)} if isinstance(pair, PreparedProfile) else {"preparing": pair}

    def _row(self, question: Message) -> Message:
        """The probabilities with which ``player``, of a ``pair``, attempts each square at an ``infoset``."""
        pair = self.profiles.find(question["pair"])
        if not isinstance(pair, PreparedProfile):
            return {"preparing": pair}
        return {"row": row_at(pair.strategies[question["player"]], question["infoset"]).tolist()}

    def _flow(self, question: Message) -> Message:
        """Where the probability of a ``pair`` flows over the first attempts of ``player``; it is kept for later."""
        pair, player = self.profiles.find(question["pair"]), question["player"]
        if not isinstance(pair, PreparedProfile):
            return {"preparing": pair}
        key = self.profiles.key(question["pair"]), player
        if key not in self._flows:
            root = numbers(pair, player, first_infoset(self.game, player)).joint_reach
            rows, ways = partial(row_at, pair.strategies[player]), partial(following, pair, player)
            self._flows[key] = flow_record(flow_of(self.game, player, rows, ways, root))
            while len(self._flows) > _FLOWS:
                del self._flows[next(iter(self._flows))]
        return {"levels": self._flows[key]}

    def _drawn(self, question: Message) -> Message:
        """An infoset of the other player, drawn from the beliefs of ``player`` at an ``infoset`` by a ``number``."""
        pair = self.profiles.find(question["pair"])
        if not isinstance(pair, PreparedProfile):
            return {"preparing": pair}
        player, infoset = question["player"], known(self.game, question["player"], question["infoset"])
        return {"drawn": drawn_infoset(pair.index, pair.strategies[1 - player], player, infoset, question["number"])}

    def _mistakes(self, question: Message) -> Message:
        """Where a strategy loses: ``player``, ``strategy``, ``equilibrium``, ``game_value``."""
        return self.profiles.find_mistakes(
            question["player"], question["strategy"], question["equilibrium"], question["game_value"]
        )

    def _differences(self, question: Message) -> Message:
        """Where strategies ``a`` and ``b`` of ``player`` differ in value against ``opponent``."""
        return self.profiles.find_differences(question["player"], question["a"], question["b"], question["opponent"])


def _alone(profile: PreparedProfile, player: int, infoset: str, square: int | None) -> Message:
    facts = numbers(profile, player, infoset)
    ways = following(profile, player, infoset)  # of all squares: that takes no longer than of one
    believed = beliefs(profile.index, profile.strategies[1 - player], player, infoset, _BOARDS)
    chosen = [way for way in ways if way.square == square]
    return infoset_record((infoset,), tuple((legal,) for legal in facts.legal), facts, believed, chosen, ways)


def _merged(profile: PreparedProfile, player: int, infoset: str, square: int | None) -> Message:
    """The infoset together with its mirror images."""
    legal = square if square in numbers(profile, player, infoset).legal else None
    result = merged(profile, player, infoset, legal, _BOARDS)
    return infoset_record(
        result.images,
        result.classes,
        result.numbers,
        result.beliefs,
        result.outcomes,
    )


def _facts(profile: PreparedProfile) -> Message:
    evaluation = profile.evaluation
    return {"value": evaluation.value, "best_responses": [evaluation.best_response_0, evaluation.best_response_1]}


@contextmanager
def answerer(directory: str, game: str, indices: str) -> Iterator[StrategyAnswers]:
    """The answers for a game, with profiles in `directory`; kernels are compiled first."""
    ensure_compiled()
    warm_up()
    with closing(StrategyAnswers(Path(directory), game, Path(indices))) as answering:
        yield answering
