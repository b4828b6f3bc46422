"""A game of a person against a bot, on a terminal."""

from __future__ import annotations

from pttt_ooc.errors import on_one_line
from pttt_ooc.other_games.extreme.boards import boards_text, move_text, places, read_move, why_not
from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.bot_programs import BotProgram
from pttt_ooc.other_games.extreme.match import BotMatch, Person, play_match
from pttt_ooc.other_games.extreme.referee import FLAGS, PLAYERS, Cell, Referee
from pttt_ooc.pipeline.show.dialogue import Dialogue

HOW = "Type big board, row and column, such as 0 4 4 or (0, 4, 4). q ends the game."


def play_game(bot: BotProgram, side: int, conditions: Conditions, dialogue: Dialogue) -> tuple[BotMatch | None, int]:
    """Play one game.

    Parameters
    ----------
    side
        The person's side: 0 plays x and begins, 1 plays o.

    Returns
    -------
    match
        None if the person has left it.
    code
        The exit code of the program.

    Raises
    ------
    ExtremeError
        If bots cannot be run on this machine as the conditions say.
    """
    table = _Table(bot, side, dialogue)
    person = Person(table.choose)
    pair = (person, bot) if side == 0 else (bot, person)
    dialogue.say(f"You play {FLAGS[side]} against {bot.name}. {HOW}")
    matches: list[BotMatch] = []
    code = dialogue.until_ended(lambda: matches.append(play_match(pair, conditions, table.watch)))
    if not matches:
        dialogue.say("The game is left.")
        return None, code
    table.show_end(matches[0])
    return matches[0], code


class _Table:
    """What the person sees and types."""

    def __init__(self, bot: BotProgram, side: int, dialogue: Dialogue) -> None:
        self._bot, self._side, self._dialogue = bot, side, dialogue

    def choose(self, position: Referee) -> Cell:
        """Ask until the answer is a valid move."""
        self._dialogue.say(f"\n{boards_text(position)}\n")
        bonus = " It is a bonus move." if position.bonus else ""
        self._dialogue.say(f"You may mark {places(position)}.{bonus}")
        while True:
            cell = read_move(self._dialogue.ask_command("Your move:", HOW))
            if cell is None:
                self._dialogue.say(HOW)
            elif cell in position.valid_cells():
                return cell
            else:
                self._dialogue.say(f"You cannot move to {move_text(cell)}: {why_not(position, cell)}.")

    def watch(self, match: BotMatch) -> bool:
        """Say what the bot has played."""
        move = match.moves[-1]
        if move.player != self._side:
            bonus = ", a bonus move," if move.bonus else ""
            self._dialogue.say(f"{self._bot.name} plays {move_text(move.cell)}{bonus} in {move.seconds:.3f} s.")
        return True

    def show_end(self, match: BotMatch) -> None:
        """Say how the game has ended."""
        position = Referee()
        for move in match.moves:
            position.play(move.cell)
        self._dialogue.say(f"\n{boards_text(position)}\n")
        own, other = match.points[self._side], match.points[1 - self._side]
        if match.message == "DRAW":
            self._dialogue.say("Nobody has a line: the points decide.")
        elif match.message != "WON":
            self._dialogue.say(f"{self._bot.name} forfeits: {match.message}.")
            for line in match.detail.splitlines():
                self._dialogue.say(on_one_line(line))
        won = match.winner == PLAYERS[self._side] or (match.winner == "NONE" and own > other)
        drawn = match.winner == "NONE" and own == other
        self._dialogue.say(
            f"{'It is a draw' if drawn else 'You have won' if won else 'The bot has won'}, {own} : {other}."
        )
