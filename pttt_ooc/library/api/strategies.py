"""Strategies, indexed by infosets, from functions, tensors and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pttt_ooc.disk.numbers import join_words
from pttt_ooc.errors import ConfigError, InfosetFileError, StrategyError, StrategyFileError
from pttt_ooc.games.rules.game import Game
from pttt_ooc.games.structure import strategy as core
from pttt_ooc.games.structure import symmetry
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.library.api import openspiel
from pttt_ooc.library.api.policies import Policy, PolicyTensor
from pttt_ooc.library.api.strategy_names import NamedStrategy, further_of, games_of_shape, named_strategy
from pttt_ooc.library.api.strategy_reader import load_strategy, rows_of
from pttt_ooc.library.api.structures import (
    checked_game,
    checked_player,
    data_directory,
    index_of,
    is_named,
    remember,
    widest_symmetry,
)
from pttt_ooc.library.questions.answers import SquareArray
from pttt_ooc.pipeline.files.file_headers import SUM_TOLERANCE
from pttt_ooc.pipeline.files.infosets import RowReader, default_rows, infoset_texts, parse_infoset, row_blocks
from pttt_ooc.pipeline.files.tensors import export_strategy, strategy_from_tensor, tensor_from_strategy
from pttt_ooc.pipeline.show.progress import ShareBar
from pttt_ooc.types import Symmetry

Infosets = str | Path | Iterable[str]


class Strategy(core.Strategy):
    """A player's strategy: probabilities at every infoset, by the infoset's text.

    An infoset's text is a bar and, for each own attempt, its square and ``*`` (placed) or ``.`` (failed): at
    ``"|0*4."`` the player has placed a mark on square 0 and then found square 4 occupied.

    ``strategy[text]`` is float64, shape (squares,): the probability of each attempt, 0 for squares that have been
    attempted.  ``len(strategy)`` is the number of infosets; a loop over a strategy gives their texts, and
    :meth:`items` also gives the probabilities.

    Attributes
    ----------
    index
        The index that `probabilities` follow: of all infosets, or, if the strategy is kept up to symmetry, of one
        infoset for each set of mirror images.
    player
        0 or 1.
    probabilities
        float, shape (sequences,): at each infoset they sum to 1.

    Examples
    --------
    >>> import pttt_ooc as pttt
    >>> game = pttt.game("mini-2x3k2-abrupt")
    >>> def corners(infoset):
    ...     free = [s for s in range(6) if str(s) not in infoset]
    ...     return {min(free): 0.5, max(free): 0.5} if len(free) > 1 else {free[0]: 1}
    >>> mine = pttt.Strategy.from_function(game, 0, corners)
    >>> mine
    Strategy of player 0 in mini-2x3k2-abrupt: 189 infosets
    >>> mine["|0*"].tolist()
    [0.0, 0.5, 0.0, 0.0, 0.0, 0.5]
    >>> mine["|0*0*"]
    Traceback (most recent call last):
        ...
    pttt_ooc.errors.InfosetFileError: '|0*0*' is no infoset of player 0 in mini-2x3k2-abrupt.
    """

    @classmethod
    def of(cls, strategy: core.Strategy) -> Strategy:
        """The same strategy, indexed by infosets."""
        return cls(strategy.index, strategy.player, strategy.probabilities)

    @classmethod
    def uniform(cls, game: Game, player: int) -> Strategy:
        """The strategy that attempts all legal squares with equal probability.

        Examples
        --------
        >>> import pttt_ooc as pttt
        >>> pttt.Strategy.uniform(pttt.game("mini-2x3k2-abrupt"), 0)["|4*"].tolist()
        [0.2, 0.2, 0.2, 0.2, 0.0, 0.2]
        """
        index = index_of(game, widest_symmetry(game))
        return cls.of(core.uniform_strategy(index, checked_player(player), np.float64))

    @classmethod
    def from_function(cls, game: Game, player: int, policy: Policy) -> Strategy:
        """The strategy of a function, which is called once for each infoset.

        A bar shows how far it is, on a terminal or in a notebook: the 14 million infosets of the full game take most
        functions about a minute.  :meth:`from_tensor` with whole columns of :func:`~pttt_ooc.marks` takes seconds.

        Parameters
        ----------
        policy
            Text of an infoset -> one probability for each square, or a mapping from squares to probabilities.

        Raises
        ------
        StrategyError
            If it returns something else; the message names the infoset.
        """
        index = index_of(game)
        rows = default_rows(index, checked_player(player))
        with ShareBar(f"Asking the policy about {len(rows):,} infosets") as bar:
            tensor = PolicyTensor(policy, game, player, rows, bar)
            return cls(index, player, strategy_from_tensor(index, player, tensor, rows, source="The policy"))

    @classmethod
    def from_tensor(cls, game: Game, player: int, tensor: NDArray[Any], infosets: Infosets | None = None) -> Strategy:
        """The strategy of a tensor: float16, float32 or float64, shape (infosets, squares).

        Parameters
        ----------
        infosets
            The infoset of each row: texts, or the name of a file of texts.  Default: the order of :meth:`infosets`.

        Raises
        ------
        StrategyError
            At the first row that is not a probability distribution over legal squares.
        InfosetFileError
            If `infosets` are not exactly the player's infosets.

        Examples
        --------
        >>> import pttt_ooc as pttt
        >>> game = pttt.game("mini-2x3k2-abrupt")
        >>> tensor = pttt.Strategy.uniform(game, 0).tensor("float32")
        >>> tensor.shape
        (189, 6)
        >>> tensor[2, 1] = 0.7
        >>> pttt.Strategy.from_tensor(game, 0, tensor)
        Traceback (most recent call last):
            ...
        pttt_ooc.errors.StrategyError: The tensor, row 2 (counted from 0), infoset '|1*': square 1 has \
0.699999988079071, but it has already been attempted, so that it must have 0.
        """
        index = index_of(game)
        rows = _rows(cls, game, checked_player(player), infosets)
        probabilities = strategy_from_tensor(index, player, np.asarray(tensor), rows)
        return cls(index, player, probabilities)

    @classmethod
    def read(
        cls,
        path: str | Path,
        player: int,
        game: Game | None = None,
        infosets: str | Path | None = None,
    ) -> Strategy:
        """A player's strategy from a ``.zip``, ``.npy`` or ``.h5`` file, or from the directory of a solution.

        Parameters
        ----------
        game
            Needed only if the file fits several games.
        infosets
            A file with the infoset of each row of a tensor; default: the order of :meth:`infosets`.

        Raises
        ------
        PtttError
            If there is no such file, it is damaged, or it is for another game or player.

        Examples
        --------
        >>> import pttt_ooc as pttt
        >>> game = pttt.game("mini-2x3k2-abrupt")
        >>> path = pttt.Strategy.uniform(game, 1).save("uniform.zip")
        >>> pttt.Strategy.read(path, 1, game)["|0."].tolist()
        [0.0, 0.2, 0.2, 0.2, 0.2, 0.2]
        >>> pttt.Strategy.read(path, 0, game)
        Traceback (most recent call last):
            ...
        pttt_ooc.errors.StrategyError: uniform.zip: Invalid tensor shape: ...
        """
        # What the file is for: a solution or a bundle names its game, a tensor has only a shape.
        named = named_strategy(str(path), checked_player(player), None if infosets is None else Path(infosets))
        if named.kind == "uniform":
            raise StrategyFileError(f"{path}: This is no file; use Strategy.uniform for the uniform strategy.")
        # If the shape fits several games, the user must name one.
        several = games_of_shape(named.shape, named.player)
        if game is None and named.game is None and len(several) > 1:
            raise StrategyError(
                f"{path}: Its shape {named.shape} fits {join_words(several, 'or')}; say which by game=."
            )
        # A game without a name is taken as it is given; with a name, file and argument must agree.
        if game is not None and not is_named(checked_game(game)):
            rules = game
        else:
            rules = further_of([named], None if game is None else game.name)
        return cls.of_named(named, rules)

    @classmethod
    def of_named(cls, named: NamedStrategy, game: Game) -> Strategy:
        """A named strategy, for a game; for errors see :meth:`read`."""
        if named.game not in (None, game.name):
            raise StrategyFileError(f"{named.path}: This is for {named.game}, not for {game.name}.")
        if named.kind == "uniform":
            return cls.uniform(game, named.player)
        symmetry: Symmetry = named.metadata["symmetry"] if named.kind == "solution" else "none"
        if named.kind == "solution":
            remember(game, symmetry, Path(named.name))
        return cls.of(load_strategy(named, index_of(game, symmetry), data_directory()))

    @classmethod
    def from_openspiel(cls, game: Game, player: int, policy: Any) -> Strategy:
        """The strategy of a policy of OpenSpiel; see :mod:`pttt_ooc.library.api.openspiel`.

        Parameters
        ----------
        game
            Phantom Tic-Tac-Toe on nine squares, or Dark Hex.
        policy
            An ``open_spiel.python.policy.Policy``, or any other object with ``action_probabilities(state, player)``.

        Raises
        ------
        ConfigError
            If OpenSpiel is not installed.
        GameError
            If OpenSpiel has no such game.
        StrategyError
            If the policy does not return a distribution over legal squares.
        """
        return cls.from_function(game, player, openspiel.policy_by_infoset(game, checked_player(player), policy))

    # -----------------------------------------------------------------------------------------
    # By infosets

    @property
    def game(self) -> Game:
        """The strategy's game."""
        return self.index.game

    def __getitem__(self, infoset: str) -> SquareArray:
        """Probabilities at an infoset: float64, shape (squares,); an InfosetFileError if there is no such infoset."""
        if not isinstance(infoset, str):
            raise InfosetFileError(f"{infoset!r} is no infoset; give its text, such as '|0*4.'.")
        whole = index_of(self.game)
        node = parse_infoset(whole, self.player, infoset)
        return np.asarray(symmetry.probabilities_at(self, whole, node), np.float64)

    def __contains__(self, infoset: object) -> bool:
        """Whether the player has an infoset with this text."""
        try:
            parse_infoset(index_of(self.game), self.player, str(infoset))
        except InfosetFileError:
            return False
        return isinstance(infoset, str)

    def __len__(self) -> int:
        """Number of infosets, mirror images included."""
        return int(index_of(self.game).players[self.player].infosets_by_slice().sum())

    def __iter__(self) -> Iterator[str]:
        """Texts of all infosets, in the order of :meth:`infosets`."""
        whole = index_of(self.game)
        for _, nodes in row_blocks(default_rows(whole, self.player)):
            for text in infoset_texts(whole, self.player, nodes).tolist():
                yield text.decode("ascii")

    def infosets(self) -> list[str]:
        """Texts of all infosets, sorted by number of attempts, then by squares and outcomes, failed before placed."""
        return list(self)

    def items(self) -> Iterator[tuple[str, SquareArray]]:
        """Each infoset with its probabilities: float64, shape (squares,).

        Examples
        --------
        >>> import pttt_ooc as pttt
        >>> strategy = pttt.Strategy.uniform(pttt.game("mini-2x3k2-abrupt"), 1)
        >>> [text for text, probabilities in strategy.items() if probabilities[5] == 0.25][:3]
        ['|0.1*', '|0.2*', '|0.3*']
        """
        return zip(self, self._rows(np.float64), strict=True)

    def _rows(self, dtype: DTypeLike) -> Iterator[SquareArray]:
        for block in self.blocks(dtype):
            yield from block

    def blocks(self, dtype: DTypeLike) -> Iterator[NDArray[Any]]:
        """The rows of :meth:`tensor`, in blocks."""
        whole = self.unfolded
        rows = default_rows(whole.index, self.player)
        return tensor_from_strategy(whole.index, self.player, whole.probabilities, rows, dtype)

    def tensor(self, dtype: DTypeLike = np.float64) -> NDArray[Any]:
        """All probabilities: an array of `dtype`, shape (infosets, squares), in the order of :meth:`infosets`.

        Parameters
        ----------
        dtype
            float16, float32 or float64.

        Examples
        --------
        >>> import pttt_ooc as pttt
        >>> tensor = pttt.Strategy.uniform(pttt.game("mini-2x3k2-abrupt"), 1).tensor("float32")
        >>> tensor.shape, tensor.dtype
        ((107, 6), dtype('float32'))
        """
        return np.concatenate(list(self.blocks(_checked_dtype(dtype))))

    @cached_property
    def unfolded(self) -> Strategy:
        """The same strategy with all infosets in its arrays, mirror images included."""
        if self.index.symmetry == "none":
            return self
        return Strategy.of(symmetry.unfold(self, index_of(self.game)))

    @cached_property
    def folded(self) -> Strategy:
        """The same strategy kept up to symmetry, which makes all that is computed with it up to eight times faster.

        Raises
        ------
        StrategyError
            If the strategy is not symmetric: probabilities at infosets that mirror each other differ by more than 1e-6.

        Examples
        --------
        >>> import pttt_ooc as pttt
        >>> game = pttt.game("mini-2x3k2-abrupt")
        >>> free = pttt.marks(game, 0) == 0
        >>> pttt.Strategy.from_tensor(game, 0, free / free.sum(axis=1, keepdims=True)).folded
        Strategy of player 0 in mini-2x3k2-abrupt: 189 infosets, kept up to symmetry
        """
        target = widest_symmetry(self.game)
        if self.index.symmetry == target:
            return self
        return Strategy.of(symmetry.fold(self, index_of(self.game, target)))

    # -----------------------------------------------------------------------------------------
    # Files

    def save(
        self,
        path: str | Path,
        dtype: DTypeLike = np.float32,
        infosets: Infosets | None = None,
        compression_level: int = 1,
    ) -> Path:
        """Write the strategy as the course's zip, which :meth:`read` and ``pttt validate`` read.

        Parameters
        ----------
        path
            Must end with ``.zip``.  An existing file is replaced only when the new one is complete.
        dtype
            float16, float32 or float64.
        infosets
            The infoset of each row; see :meth:`from_tensor`.
        compression_level
            zlib's, 0 (none) to 9.

        Returns
        -------
        The path.

        Raises
        ------
        StoreError
            If it cannot be written.

        Examples
        --------
        >>> import pttt_ooc as pttt
        >>> strategy = pttt.Strategy.uniform(pttt.game("mini-2x3k2-abrupt"), 0)
        >>> strategy.save("mine.zip", dtype="float64").name
        'mine.zip'
        """
        path = Path(path)
        if path.suffix.lower() != ".zip":
            raise ConfigError(f"Cannot write {path}: the name must end with .zip.")
        rows = _rows(type(self), self.game, self.player, infosets)
        if compression_level not in range(10):
            raise ConfigError(f"The compression level is {compression_level!r}, but must be a number from 0 to 9.")
        # The course's file has a row for every infoset, mirror images included.
        export_strategy(self.unfolded, rows, path, _checked_dtype(dtype), compression_level)
        return path

    def to_openspiel(self, other: core.Strategy | None = None) -> Any:
        """The strategy as a policy of OpenSpiel; see :func:`pttt_ooc.library.api.openspiel.as_policy`.

        Parameters
        ----------
        other
            The other player's strategy, in the same game; with it, the policy plays for both.

        Raises
        ------
        ConfigError
            If OpenSpiel is not installed.
        GameError
            If OpenSpiel has no such game.
        StrategyError
            If `other` is of the same player or for another game.
        """
        strategies = {self.player: self}
        if other is not None:
            if other.player == self.player or other.index.game != self.game:
                raise StrategyError("The other strategy must be the other player's, in the same game.")
            strategies[other.player] = Strategy.of(other)
        return openspiel.as_policy(self.game, strategies)

    def __repr__(self) -> str:
        ending = ", kept up to symmetry" if self.index.symmetry == "full" else ""
        return f"Strategy of player {self.player} in {self.game.name}: {len(self):,} infosets{ending}"


def _checked_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found is None or found.name not in SUM_TOLERANCE:
        raise StrategyError(f"Invalid dtype: found {dtype}, expected one of {', '.join(SUM_TOLERANCE)}.")
    return found


def _rows(kind: type[Strategy], game: Game, player: int, infosets: Infosets | None) -> Ints:
    """Node number of each row of a tensor."""
    index = index_of(game)
    if infosets is None or isinstance(infosets, str | Path):
        return rows_of(index, player, None if infosets is None else Path(infosets))
    reader = RowReader(index, player, "The infosets")
    rest = reader.feed("".join(f"{text}\n" for text in infosets).encode(errors="replace"))
    assert not rest, "every text is a line"
    return reader.finish()
