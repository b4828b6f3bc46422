"""`pttt web --terminal`: any infoset of a pair of strategies, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.disk.numbers import decimals, fraction, gap, probability
from pttt_ooc.errors import ImpossibleInfosetError, StrategyError, StrategyFileError
from pttt_ooc.games.rules.catalogue import exact_value
from pttt_ooc.games.rules.infoset_text import attempts_of
from pttt_ooc.games.rules.play import first_infoset
from pttt_ooc.games.structure.infoset_parser import check_infoset
from pttt_ooc.library.api.structures import configure
from pttt_ooc.library.questions.answers import Numbers, SquareArray
from pttt_ooc.pipeline.show.boards import attempts_sentence, support_sentences
from pttt_ooc.pipeline.show.dialogue import MARKS, Dialogue, Square
from pttt_ooc.pipeline.show.tables import whole
from pttt_ooc.site.explore.boards import mirror_images
from pttt_ooc.site.explore.local_opponents import AnyPair, Pair, pair_of
from pttt_ooc.site.explore.sources import Source, with_run

HELP = (
    "Type an attempt to continue: 4* if the mark is placed on square 4, 4. if it fails; several at once as 0*4. too. "
    "Or type a whole infoset, such as |0*4. u undoes an attempt, p turns to the other player, b shows beliefs, o lets "
    "the opponent play the best response, or the strategy again, r does the same for the player, m merges the infoset "
    "with its mirror images, or separates them again, q ends, ? shows this."
)
_ITERATIONS = "i lists the iterations whose strategies were kept; i 19 goes to the strategies after iteration 19."
_BOARDS = 8
Classes = Sequence[Sequence[int]]


def explore_named(names: Sequence[str], game: str | None, data: Path) -> int:
    """As :func:`explore`, for the names of one strategy or two.

    Raises
    ------
    PtttError
        If there are no such strategies, or there are more than two.
    """
    configure(data)
    if len(names) > 2:
        raise StrategyFileError("On the terminal, name one strategy, or two: player 0's and player 1's.")
    runs = [with_run(Source("", name, name, "")) for name in names]
    if len(names) == 2:
        return explore(Pair((names[0], names[1]), game), 0, Dialogue(), runs)
    pair, sides = pair_of(names[0], game)
    return explore(pair, sides[0], Dialogue(), runs)


def explore(pair: AnyPair, player: int, dialogue: Dialogue, runs: Sequence[Source] = ()) -> int:
    """Answer until the person quits; returns the exit code of the program.

    Parameters
    ----------
    runs
        The runs of the strategies, with the names of the pair.
    """
    code = dialogue.until_ended(Walk(pair, player, dialogue, runs).go)
    dialogue.say("Goodbye.")
    return code


class Walk:
    """The state of a dialogue; for parameters see :func:`explore`."""

    def __init__(self, pair: AnyPair, player: int, dialogue: Dialogue, runs: Sequence[Source] = ()) -> None:
        self.pair, self.player, self.dialogue = pair, player, dialogue
        self._latest, self._followed = pair, pair
        self._runs = {run.name: run for run in runs if run.snapshots}
        self._replying: frozenset[int] = frozenset()  # the players who play their best responses
        self._merged = False
        self.infosets = [self._first(0), self._first(1)]

    @property
    def infoset(self) -> str:
        """The infoset that is shown."""
        return self.infosets[self.player]

    def go(self) -> None:
        """Show infosets until an EndedError is raised."""
        game = self.pair.game
        self.dialogue.say(f"{game.name}: player 0 is {self.pair.names[0]}, player 1 is {self.pair.names[1]}.", "bold")
        if (value := exact_value(game)) is not None:
            self.dialogue.say(f"The value of the game for player 0 is {fraction(value)}.")
        self.dialogue.say(self._help)
        self._show()
        while True:
            self._do(self.dialogue.ask_command(f"Player {self.player} at {self.infoset} >", self._help))

    def _first(self, player: int) -> str:
        return first_infoset(self.pair.game, player)

    def _do(self, typed: str) -> None:
        word = typed.lower()
        if word in ("o", "opponent"):
            self._turn(1 - self.player)
        elif word in ("r", "reply"):
            self._turn(self.player)
        elif word in ("m", "merge"):
            self._merged = not self._merged
            self._show()
        elif word == "i" or word.startswith("i "):
            self._go_to_iteration(word[1:].strip())
        elif word in ("b", "beliefs"):
            self._show_beliefs()
        elif word in ("p", "player"):
            self.player = 1 - self.player
            self._show()
        elif word in ("u", "undo"):
            self._undo()
        elif not typed:
            self._show()
        else:
            self._go_to(typed if typed.startswith("|") else self.infoset + typed)

    @property
    def _help(self) -> str:
        return f"{HELP} {_ITERATIONS}" if self._runs else HELP

    def _turn(self, player: int) -> None:
        """Switch a player between their best response and their strategy."""
        replying = self._replying ^ {player}
        try:
            self.pair = self._followed.with_reply(*replying) if replying else self._followed
        except StrategyError as error:
            self.dialogue.say(str(error))
            return
        self._replying = replying
        self._tell_pair()
        self._show()

    def _go_to_iteration(self, text: str) -> None:
        snapshots = sorted({one.iteration: one.gap for run in self._runs.values() for one in run.snapshots}.items())
        if not snapshots:
            self.dialogue.say("No earlier strategies were kept of this run.")
        elif text not in [str(iteration) for iteration, _ in snapshots]:
            if text:
                self.dialogue.say(f"No strategies were kept after iteration {text}.")
            self.dialogue.say(
                "Kept iterations, with their gaps: " + ", ".join(f"{t}: {gap(g)}" for t, g in snapshots) + "."
            )
        else:
            runs = [self._runs.get(name) for name in self._latest.names]
            names = [
                n if run is None else run.after(int(text)).name for n, run in zip(self._latest.names, runs, strict=True)
            ]
            self.pair = self._followed = Pair((names[0], names[1]), self.pair.game.name)
            self._replying = frozenset()
            self._tell_pair()
            self._show()

    def _tell_pair(self) -> None:
        self.dialogue.say(f"Player 0 is {self.pair.names[0]}, player 1 is {self.pair.names[1]}.", "bold")

    def _undo(self) -> None:
        if self.infoset == self._first(self.player):
            self.dialogue.say("There is nothing to undo: the player has made no attempt yet.")
            return
        self.infosets[self.player] = self.infoset[:-2]
        self._show()

    def _go_to(self, text: str) -> None:
        try:
            infoset = check_infoset(self.pair.game, self.player, text)
        except ImpossibleInfosetError as error:
            nearest = "" if error.nearest in (None, self.infoset) else f" The nearest infoset is {error.nearest}"
            self.dialogue.say(f"{error}{nearest}")
            return
        self.infosets[self.player] = infoset
        self._show()

    # -----------------------------------------------------------------------------------------
    # Output

    def _show(self) -> None:
        facts, classes = self._numbers()
        say, game = self.dialogue.say, self.pair.game
        sentence = attempts_sentence(self.infoset, len(game.setup[self.player]))
        say()
        say(f"Player {self.player} ({MARKS[self.player]}): {sentence}.")
        support, own = self.pair.support, [s for s in facts.legal if facts.probabilities[s] > 0]
        attempts = tuple(attempts_of(self.infoset))[len(game.setup[self.player]) :]
        played = support.played_squares(self.player, attempts) if support else None
        say(self.dialogue.board(game, self._squares(facts.probabilities, classes, played or ())))
        for line in support_sentences(game, own, support is not None, played):
            say(line)
        if images := mirror_images(game, self.infoset):
            say(f"{'Merged with its mirror images' if self._merged else 'Mirror images'}: {'  '.join(images)}")
        if any(len(one) > 1 for one in classes):
            say("A square with = mirrors another one, which shows the probability of all together.")
        if self._merged and images:
            say("Reach and regrets are sums over the infoset and its mirror images.")
        say(f"reach: own {_reach(facts.own_reach)}, opponent {_reach(facts.opponent_reach)}")
        if facts.arbitrary:
            say("No game between these strategies comes here: what the strategy does is arbitrary.")
        say(f"value {_number(facts.value)}, with the best response from here on {_number(facts.best_value)}")
        self._show_attempts(facts, classes)

    def _numbers(self) -> tuple[Numbers, Classes]:
        """The numbers at the infoset, or with its mirror images, and the classes of squares that mirror each other."""
        if self._merged:
            both = self.pair.merge_infoset(self.player, self.infoset)
            return both.numbers, both.classes
        facts = self.pair.numbers(self.player, self.infoset)
        return facts, [(square,) for square in facts.legal]

    def _squares(self, row: SquareArray, classes: Classes, played: Sequence[int]) -> list[Square]:
        known = dict(attempts_of(self.infoset))
        sums = {one[0]: _together(row, one) for one in classes}
        most = max((p for p in sums.values() if p == p), default=1.0)
        squares = [self._mark(mine=known[s]) if s in known else Square("") for s in range(self.pair.game.squares)]
        for one in classes:
            star = "*" if one[0] in played else ""
            squares[one[0]] = Square(probability(sums[one[0]]) + star, style="bold" if sums[one[0]] == most else "")
            for other in one[1:]:
                squares[other] = Square(f"={one[0]}", style="dim")
        return squares

    def _mark(self, mine: bool) -> Square:
        return Square(MARKS[self.player if mine else 1 - self.player], style="bold blue" if mine else "bold red")

    def _show_attempts(self, facts: Numbers, classes: Classes) -> None:
        rows = []
        for one in map(tuple, classes):
            s = one[0]
            values = (facts.action_values[s], facts.best_action_values[s], facts.regrets[s], facts.fails[s])
            shown = (_number(float(value)) for value in values)
            rows.append((whole(", ".join(map(str, one))), probability(_together(facts.probabilities, one)), *shown))
        self.dialogue.table(("square", "probability", "value", "then best", "regret", "fails"), rows)

    def _show_beliefs(self) -> None:
        say, game = self.dialogue.say, self.pair.game
        if self._merged:
            held = self.pair.merge_infoset(self.player, self.infoset, None, _BOARDS).beliefs
        else:
            held = self.pair.beliefs(self.player, self.infoset, _BOARDS)
        if not held.boards:
            say("No game against this opponent comes here, and the histories that fit are not listed: no beliefs.")
            return
        say(f"The opponent's mark is there with probability (given {self.infoset}):")
        own = {square for square, placed in attempts_of(self.infoset) if placed}
        marks = [self._mark(mine=True) if s in own else Square(f"{p:.3f}") for s, p in enumerate(held.marks.tolist())]
        say(self.dialogue.board(game, marks))
        if held.arbitrary:
            say("No game against this opponent comes here: all possible histories count alike.")
        attempts = ", ".join(f"{n} with {p:.3f}" for n, p in sorted(held.opponent_attempts.items()))
        say(f"Attempts of the opponent: {attempts}.")
        say("The likeliest boards:")
        for board in held.boards:
            rows = []
            for s in range(game.squares):
                mine, theirs = board.mine >> s & 1, board.theirs >> s & 1
                rows.append(MARKS[self.player] if mine else MARKS[1 - self.player] if theirs else ".")
            lines = ["".join(rows[r * game.columns : (r + 1) * game.columns]) for r in range(game.rows)]
            say(f"  {' / '.join(lines)}   {board.probability:.4f}")


def _together(row: SquareArray, squares: Sequence[int]) -> float:
    return float(sum(row[square] for square in squares))


def _number(value: float) -> str:
    return "-" if value != value else decimals(value, 4)


def _reach(value: float) -> str:
    return probability(round(value, 12))  # because of rounding
