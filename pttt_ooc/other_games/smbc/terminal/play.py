"""`pttt smbc play`: matches against the solution, on a terminal."""

from __future__ import annotations

import random
from pathlib import Path

from pttt_ooc.errors import PtttError
from pttt_ooc.other_games.smbc.match_play import BOT, ME, Bot, Draw, Match, Round, Thought, new_match, thoughts
from pttt_ooc.other_games.smbc.match_results import keep_match, read_tallies, tally_sentences
from pttt_ooc.other_games.smbc.rules import BOARD, GOALS
from pttt_ooc.other_games.smbc.terminal.board import marked_board
from pttt_ooc.other_games.smbc.vocabulary import MARKS, end_for, square_of
from pttt_ooc.pipeline.show.dialogue import Dialogue
from pttt_ooc.pipeline.show.tables import whole

HELP = (
    "Before each round both players draw a secret goal: win, tie or lose. A goal that is met scores a point, "
    "whatever the other player does. Type a square to take it; squares are 0 to 8: 0 1 2 is the top row. "
    "q ends, ? shows this."
)


def play(bot: Bot, directory: Path, dialogue: Dialogue, draw: Draw | None = None) -> int:
    """Play matches until the person quits.

    Parameters
    ----------
    directory
        Where finished matches are kept.
    draw
        Returns random numbers in [0, 1); default: the operating system's.

    Returns
    -------
    The exit code of the program.
    """
    table = TerminalMatch(bot, directory, dialogue, draw or random.SystemRandom().random)
    code = dialogue.until_ended(table.sit)
    table.part()
    return code


class TerminalMatch:
    """One person's matches; for parameters see :func:`play`."""

    def __init__(self, bot: Bot, directory: Path, dialogue: Dialogue, draw: Draw) -> None:
        self.bot, self.directory, self.dialogue, self._draw = bot, directory, dialogue, draw
        self.match: Match | None = None

    def sit(self) -> None:
        """Play one match after the other; the first player of the first round is drawn."""
        say = self.dialogue.say
        say(
            f"Tic-tac-toe with secret goals. The first to reach {self.bot.winning_score} points wins the match.", "bold"
        )
        say(HELP)
        while True:
            first = int(self._draw() * 2)
            self.match = new_match(self.bot.winning_score, first, self._draw).after_bot_move(self.bot, self._draw)
            while self.match.winner is None:
                self._round()
            self._finish()

    def part(self) -> None:
        """Show the results at the end."""
        if self.match is not None and self.match.winner is None:
            self.dialogue.say("This match is not over, so it does not count.")
        self._statistics()
        self.dialogue.say("Goodbye.")

    def _round(self) -> None:
        match = self._now()
        if match.round.over:
            match = self.match = match.on(self._draw).after_bot_move(self.bot, self._draw)
        self._begin(match)
        while not self._now().round.over:
            self._show(self._now().round)
            self.match = self._ask_move()
        self._reveal(self._now())
        if self._now().winner is None:
            self._wait("Enter: the next round, q: end >")

    def _now(self) -> Match:
        assert self.match is not None
        return self.match

    def _begin(self, match: Match) -> None:
        say, now = self.dialogue.say, match.round
        who = "You move first" if now.first == ME else "The bot moves first"
        say()
        say(f"Round {len(match.rounds)}. Points: you {now.points[ME]}, the bot {now.points[BOT]}. {who}.", "bold")
        say(f"Your secret goal: {GOALS[now.goals[ME]].upper()}", "bold")

    def _show(self, now: Round) -> None:
        self.dialogue.say(self.dialogue.board(BOARD, marked_board(now.squares, False)))

    def _ask_move(self) -> Match:
        """The match after a move of the person."""
        match = self._now()
        mark = MARKS[len(match.round.squares) % 2]
        while True:
            prompt = f"Your goal is {GOALS[match.round.goals[ME]]}. Where do you put {mark}? >"
            typed = self.dialogue.ask_command(prompt, HELP)
            try:
                return match.move(square_of(typed), self.bot, self._draw)
            except PtttError as error:
                self.dialogue.say(str(error))

    def _wait(self, prompt: str) -> None:
        """Ask until the answer is an empty line."""
        while typed := self.dialogue.ask_command(prompt, HELP):
            self.dialogue.say(f"{typed!r} is not one of the answers.")

    # -----------------------------------------------------------------------------------------
    # After a round, after a match

    def _reveal(self, match: Match) -> None:
        say, now = self.dialogue.say, match.round
        self._show(now)
        say(f"The round is decided. {end_for(now.outcome, now.first == ME)}.")
        for who, player in (("Your", ME), ("The bot's", BOT)):
            scored = "one point" if now.scored[player] else "no point"
            say(f"{who} goal was {GOALS[now.goals[player]]}: {scored}.")
        if now.scored == (1, 1) and match.points == now.points:
            say(f"Both would reach {match.winning_score}, so the round does not count.")
        say("What the bot thought your goal was, after each of your moves:")
        self.dialogue.table(("move", "square", *GOALS), map(_row, thoughts(now, self.bot)))

    def _finish(self) -> None:
        match = self._now()
        mine, other = match.points
        verdict = "You have won" if match.winner == ME else "The bot has won"
        self.dialogue.say(f"{verdict} the match: you {mine}, the bot {other}.", "bold")
        keep_match(self.directory, match)
        self._statistics()
        self._wait("Enter: another match, q: end >")

    def _statistics(self) -> None:
        for sentence in tally_sentences(read_tallies(self.directory), self.bot):
            self.dialogue.say(sentence)


def _row(thought: Thought) -> tuple[object, ...]:
    if thought.believed is None:
        return thought.number, thought.square, whole("it never plays so"), *[""] * (len(GOALS) - 1)
    return thought.number, thought.square, *(f"{chance:.1%}" for chance in thought.believed)
