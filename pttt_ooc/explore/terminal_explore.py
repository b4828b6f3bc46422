"""`pttt explore --terminal`: any infoset of a pair of strategies, on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.errors import ImpossibleInfosetError, StrategyFileError
from pttt_ooc.explore.dialogue import MARKS, Dialogue, EndedError, Square
from pttt_ooc.explore.here import Pair, pair_of
from pttt_ooc.library.structures import configure
from pttt_ooc.questions.answers import Numbers, Row
from pttt_ooc.questions.beliefs import beliefs
from pttt_ooc.questions.infoset import numbers
from pttt_ooc.questions.reading import checked
from pttt_ooc.rules.play import start
from pttt_ooc.show.boards import attempts_sentence
from pttt_ooc.show.numbers import decimals, probability
from pttt_ooc.show.pictures import attempts_of

HELP = (
    "Type an attempt to go on: 4* if the mark is placed on square 4, 4. if it fails; several at once as 0*4. too. Or "
    "type a whole infoset, such as |0*4. u undoes an attempt, p turns to the other player, b shows beliefs, q ends, "
    "? shows this."
)
_BOARDS = 8


def explore_named(names: Sequence[str], game: str | None, data: Path) -> int:
    """As :func:`explore`, for strategies that are named: one, with what it brings for the other player, or two.

    Raises
    ------
    PtttError
        If there are no such strategies, or there are more than two.
    """
    configure(data)
    if len(names) > 2:
        raise StrategyFileError("On the terminal one strategy is looked at, or two: of player 0 and of player 1.")
    if len(names) == 2:
        return explore(Pair((names[0], names[1]), game), 0, Dialogue())
    pair, sides = pair_of(names[0], game)
    return explore(pair, sides[0], Dialogue())


def explore(pair: Pair, player: int, dialogue: Dialogue) -> int:
    """Answer until the person has enough; returns the exit code of the program."""
    try:
        Walk(pair, player, dialogue).go()
    except EndedError as end:
        dialogue.say("Goodbye.")
        return end.code
    return 0


class Walk:
    """Where a person is in a game; parameters as of :func:`explore`."""

    def __init__(self, pair: Pair, player: int, dialogue: Dialogue) -> None:
        self.pair, self.player, self.dialogue = pair, player, dialogue
        self.infosets = [self._first(0), self._first(1)]

    @property
    def infoset(self) -> str:
        """Where the person is now."""
        return self.infosets[self.player]

    def go(self) -> None:
        """Show infosets until an EndedError is raised."""
        game = self.pair.game
        self.dialogue.say(f"{game.name}: player 0 is {self.pair.names[0]}, player 1 is {self.pair.names[1]}.", "bold")
        self.dialogue.say(HELP)
        self._show()
        while True:
            self._do(self.dialogue.ask(f"Player {self.player} at {self.infoset} >"))

    def _first(self, player: int) -> str:
        return start(self.pair.game).infoset(player)

    def _do(self, typed: str) -> None:
        word = typed.lower()
        if word in ("q", "quit", "exit"):
            raise EndedError(0)
        if word in ("?", "h", "help"):
            self.dialogue.say(HELP)
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

    def _undo(self) -> None:
        if self.infoset == self._first(self.player):
            self.dialogue.say("There is nothing to undo: the player has made no attempt yet.")
            return
        self.infosets[self.player] = self.infoset[:-2]
        self._show()

    def _go_to(self, text: str) -> None:
        try:
            found = checked(self.pair.game, self.player, text)
        except ImpossibleInfosetError as error:
            nearest = "" if error.nearest in (None, self.infoset) else f" The nearest infoset is {error.nearest}"
            self.dialogue.say(f"{error}{nearest}")
            return
        self.infosets[self.player] = found
        self._show()

    # -----------------------------------------------------------------------------------------
    # What is shown

    def _show(self) -> None:
        found = numbers(self.pair.profile, self.player, self.infoset)
        say, game = self.dialogue.say, self.pair.game
        told = attempts_sentence(self.infoset, len(game.setup[self.player]))
        say()
        say(f"Player {self.player} ({MARKS[self.player]}): {told}.")
        say(self.dialogue.board(game, self._squares(found.probabilities)))
        say(f"reach: own {_reach(found.own_reach)}, opponent {_reach(found.opponent_reach)}")
        if found.arbitrary:
            say("No game between these strategies comes here: what the strategy does is arbitrary.")
        say(f"value {_number(found.value)}, with the best response from here on {_number(found.best_value)}")
        self._show_attempts(found)

    def _squares(self, row: Row) -> list[Square]:
        known = dict(attempts_of(self.infoset))
        most = max((p for p in row.tolist() if p == p), default=1.0)
        found = []
        for s in range(self.pair.game.squares):
            if s in known:
                found.append(self._mark(mine=known[s]))
            else:
                found.append(Square(probability(float(row[s])), style="bold" if row[s] == most else ""))
        return found

    def _mark(self, mine: bool) -> Square:
        return Square(MARKS[self.player if mine else 1 - self.player], style="bold blue" if mine else "bold red")

    def _show_attempts(self, found: Numbers) -> None:
        self.dialogue.say("square  probability     value  then best    regret     fails")
        for s in found.legal:
            values = (found.action_values[s], found.best_action_values[s], found.regrets[s], found.fails[s])
            told = "".join(f"{_number(float(value)):>10}" for value in values)
            self.dialogue.say(f"{s:>6}  {probability(float(found.probabilities[s])):>11}{told}")

    def _show_beliefs(self) -> None:
        profile, say, game = self.pair.profile, self.dialogue.say, self.pair.game
        found = beliefs(profile.index, profile.strategies[1 - self.player], self.player, self.infoset, _BOARDS)
        say(f"The opponent's mark is there with probability (given {self.infoset}):")
        own = {square for square, placed in attempts_of(self.infoset) if placed}
        shown = [self._mark(mine=True) if s in own else Square(f"{p:.3f}") for s, p in enumerate(found.marks.tolist())]
        say(self.dialogue.board(game, shown))
        if found.arbitrary:
            say("No game against this opponent comes here: all possible histories count alike.")
        attempts = ", ".join(f"{n} with {p:.3f}" for n, p in sorted(found.opponent_attempts.items()))
        say(f"Attempts of the opponent: {attempts}.")
        say("The likeliest boards:")
        for board in found.boards:
            rows = []
            for s in range(game.squares):
                mine, theirs = board.mine >> s & 1, board.theirs >> s & 1
                rows.append(MARKS[self.player] if mine else MARKS[1 - self.player] if theirs else ".")
            lines = ["".join(rows[r * game.columns : (r + 1) * game.columns]) for r in range(game.rows)]
            say(f"  {' / '.join(lines)}   {board.probability:.4f}")


def _number(value: float) -> str:
    return "-" if value != value else decimals(value, 4)


def _reach(value: float) -> str:
    return probability(round(value, 12))  # sums of rounded numbers
