# ruff: noqa: T201, UP004, UP010, UP015, UP031, UP036, S102
"""Matches of Extreme TicTacToe between bots in files, random players and persons, without walls around bots.

    python extreme_kit.py team39.py random          one match; the first player plays x and begins
    python extreme_kit.py manual team39.py --show   you play x, and see the boards
    python extreme_kit.py team39.py old/team39.py --games 10 --alternate --log games.jsonl

It runs under Python 2.7 and Python 3, and needs nothing else.  Its rules and its messages are those of the course's
referee.  A player is `random`, `manual`, or a file with a class as the course asks for it.  A bot runs in this process:
run only bots that you trust.  Its time is measured, but it is not stopped.
"""

from __future__ import print_function

import argparse
import json
import os
import random
import sys
import time
import traceback
import types

from pttt_ooc.other_games.extreme.referee import FLAGS, PLAYERS, WHOLE, Referee
from pttt_ooc.other_games.extreme.runner import BigBoard, play, player_class


class RandomPlayer(object):
    """Plays any valid cell."""

    def move(self, board, old_move, flag):
        """Return a cell: big board, row and column."""
        return random.choice(board.find_valid_move_cells(old_move))


class ManualPlayer(object):
    """Asks a person."""

    def move(self, board, old_move, flag):
        """Ask until the answer is a valid cell."""
        board.print_board()
        cells = board.find_valid_move_cells(old_move)
        places = sorted({(k, row // 3, column // 3) for k, row, column in cells})
        print("You play %s. Big board, row and column of small boards that you may mark: %s" % (flag, places))
        while True:
            print("Your move, such as 0 4 4 for big board, row and column:")
            sys.stdout.flush()
            line = sys.stdin.readline()
            if not line:
                sys.exit("The input has ended; the match is not over.")
            try:
                cell = tuple(int(word) for word in line.replace(",", " ").split())
            except ValueError:
                cell = ()
            if cell in cells:
                return cell
            print("This is not a cell that you may mark.")


def make_player(name):
    """Make a player from its name or its file."""
    if name == "random":
        return RandomPlayer()
    if name == "manual":
        return ManualPlayer()
    stem = os.path.basename(name).rsplit(".", 1)[0]
    module = types.ModuleType(str(stem))
    module.__file__ = name
    sys.modules[str(stem)] = module
    with open(name, "rb") as file:
        exec(compile(file.read(), name, "exec", 0, True), module.__dict__)
    return player_class(module, stem)()


def failing(answer, board):
    """Return why an answer is a forfeit, or an empty text."""
    if (answer["big"], answer["small"]) != (board.big_boards_status, board.small_boards_status):
        return "MODIFIED THE BOARD"
    return "" if answer["move"] is not None else "INVALID MOVE"


def play_match(names, time_limit, show):
    """Play a match.

    Returns the winner (P1, P2 or NONE), the message, the points of both, the moves (player, cell, bonus) and the
    seconds of the slowest move of each.
    """
    referee, boards, known, slowest = Referee(), [BigBoard(), BigBoard()], [0, 0], [0.0, 0.0]
    moves = []  # type: list[object]
    told = []  # type: list[object]  # the move before, the move, the flag

    def forfeit(loser, message):
        points = (WHOLE * (loser == 1), WHOLE * (loser == 0))
        return PLAYERS[1 - loser], message, points, moves, slowest

    players = []
    for number, name in enumerate(names):
        try:
            players.append(make_player(name))
        except (Exception, SystemExit):
            traceback.print_exc()
            return forfeit(number, "THREW AN EXCEPTION")
    while referee.result()[1] == "-":
        player = referee.player
        request = {"moves": told[known[player] :], "old_move": referee.old_move, "flag": FLAGS[player]}
        known[player] = len(told)
        begin = time.time()
        try:
            answer = play(players[player], boards[player], request)
        except (Exception, SystemExit):
            if isinstance(players[player], ManualPlayer):
                raise
            traceback.print_exc()
            return forfeit(player, "THREW AN EXCEPTION")
        seconds = time.time() - begin
        slowest[player] = max(slowest[player], seconds)
        if seconds > time_limit and not isinstance(players[player], ManualPlayer):
            return forfeit(player, "TIME OUT")
        message = failing(answer, referee.board)
        if message:
            return forfeit(player, message)
        cell, bonus, before = tuple(answer["move"]), referee.bonus, referee.old_move
        if not referee.play(cell):
            return forfeit(player, "INVALID MOVE")
        told.append((before, cell, FLAGS[player]))
        moves.append((player, cell, bonus))
        if show:
            print("P%d marked %s%s" % (player + 1, cell, ", a bonus move" if bonus else ""))
            referee.board.print_board()
    flag, message = referee.result()
    if message == "WON":
        winner = FLAGS.index(flag)
        return PLAYERS[winner], message, (WHOLE * (winner == 0), WHOLE * (winner == 1)), moves, slowest
    return "NONE", message, referee.points(), moves, slowest


def main():
    """Play the matches that the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0], epilog="A player is random, manual, or a file like team39.py."
    )
    parser.add_argument("first", help="plays x and begins")
    parser.add_argument("second", help="plays o")
    parser.add_argument("--time-limit", type=float, default=24.0, metavar="SECONDS", help="for each move; 24")
    parser.add_argument("--games", type=int, default=1, metavar="N", help="how many matches")
    parser.add_argument("--alternate", action="store_true", help="exchange who begins after each match")
    parser.add_argument("--seed", type=int, metavar="N", help="seed of random players")
    parser.add_argument("--show", action="store_true", help="show the boards after each move")
    parser.add_argument("--log", metavar="FILE", help="a new file for the matches, a line of JSON for each")
    options = parser.parse_args()
    names = [options.first, options.second]
    for name in names:
        if name not in ("random", "manual") and not os.path.isfile(name):
            parser.error("there is no file %s; a player is random, manual, or a file like team39.py" % name)
    if options.log and os.path.exists(options.log):
        parser.error("%s is there already; name another file for --log" % options.log)
    random.seed(options.seed)
    for _ in range(options.games):
        winner, message, points, moves, slowest = play_match(names, options.time_limit, options.show)
        for number, name in enumerate(names):
            print("P%d  %s: slowest move %.3f s" % (number + 1, name, slowest[number]))
        print("Winner: %s" % winner)
        print("Message: %s" % message)
        print("Score of P1: %d" % points[0])
        print("Score of P2: %d" % points[1])
        if options.log:
            found = {"names": names, "winner": winner, "message": message, "points": points, "moves": moves}
            with open(options.log, "a") as file:
                file.write(json.dumps(found) + "\n")
        if options.alternate:
            names = names[::-1]


if __name__ == "__main__":
    main()
