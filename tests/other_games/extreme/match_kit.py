"""A tournament's directory made without any bot: matches of random moves, with forfeits."""

import json
import random

from pttt_ooc.other_games.extreme.bot_process import Conditions
from pttt_ooc.other_games.extreme.league import Stage
from pttt_ooc.other_games.extreme.referee import FLAGS, PLAYERS, WHOLE, Referee
from pttt_ooc.other_games.extreme.tournament import Entry, TournamentSettings, settle
from pttt_ooc.other_games.extreme.tournament_record import Record

SMALL = (Stage("semi-final", 2, 2, 10), Stage("final", 1, 1, 10))


def log_of(pairing, seed, forfeits=False, secret="secret"):
    """What the file of a match of random moves holds; one that is forfeited ends after eleven moves."""
    draw, referee, moves = random.Random(f"{seed} {pairing.name}"), Referee(), []
    while referee.result()[1] == "-" and not (forfeits and len(moves) == 11):
        cell = draw.choice(referee.valid_cells())
        seconds = round(draw.uniform(0.001, 0.2), 6)
        spent = {"seconds": seconds, "processor": seconds, "waited": 0.0}
        move = {"player": referee.player, "cell": list(cell), "bonus": referee.bonus, **spent}
        moves.append(move)
        referee.play(cell)
    flag, message = referee.result()
    if message == "-":
        loser = referee.player
        result = {"winner": PLAYERS[1 - loser], "message": "THREW AN EXCEPTION", "detail": f"<b>Boom</b> {secret}"}
        points = [WHOLE * (loser == 1), WHOLE * (loser == 0)]
    elif message == "WON":
        winner = FLAGS.index(flag)
        result = {"winner": PLAYERS[winner], "message": message, "detail": ""}
        points = [WHOLE * (winner == 0), WHOLE * (winner == 1)]
    else:
        result, points = {"winner": "NONE", "message": message, "detail": ""}, list(referee.points())
    return {
        "stage": pairing.stage,
        "pool": pairing.pool,
        "first": pairing.first,
        "second": pairing.second,
        "names": [f"{pairing.first}.py", f"{pairing.second}.py"],
        **result,
        "points": points,
        "moves": moves,
        "plies": len(moves),
        "seconds": sum(move["seconds"] for move in moves),
        "load_seconds": [0.1, 0.1],
        "pythons": ["3.11", "converted"],
        "printed": [f"{pairing.first} says <i>{secret}</i>\x1b[31m\u202e", f"{pairing.second} says <i>{secret}"],
    }


def begin(directory, keys, stages=SMALL, names=None, seed=4):
    """A tournament that has not been played yet."""
    entries = [Entry(key, (names or {}).get(key, key), f"{key}.py", f"# {key}\n".encode(), 3) for key in keys]
    settle(directory, entries, TournamentSettings(stages, seed, Conditions(time_limit=0.2)))
    return Record(directory)


def play_on(record, most=10**9, seed=1):
    """Write the logs of so many further matches."""
    while most and (waiting := record.state().waiting):
        for number, pairing in enumerate(waiting[:most]):
            record.log(pairing).write_text(json.dumps(log_of(pairing, seed, forfeits=number % 5 == 3)))
        most -= min(most, len(waiting))
    return record


def made(directory, teams=6, **options):
    """A tournament that is over."""
    return play_on(begin(directory, [f"team{n}" for n in range(teams)], **options))
