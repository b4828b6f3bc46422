"""A practice league's directory made without any bot: matches of random moves."""

import json

from pttt_ooc.other_games.extreme.league import Pairing
from pttt_ooc.other_games.extreme.practice import results
from pttt_ooc.other_games.extreme.practice_record import STAGE, PracticeBot, PracticeRecord
from tests.other_games.extreme.match_kit import log_of

LIMIT = 0.2


def bot(key, digest="1", **facts):
    return PracticeBot(key, facts.pop("name", key.capitalize()), f"{key}.py", digest, **facts)


def write_match(directory, number, first, second, digests=("1", "1"), limit=LIMIT, **options):
    """Write the log of a match; returns its name."""
    pairing = Pairing(STAGE, number - 1, first, second)
    facts = {"digests": digests, "time_limit": limit, "ended_at": 1.7e9 + number}
    (directory / "matches").mkdir(parents=True, exist_ok=True)
    log = {**log_of(pairing, 1, **options), **facts}
    (directory / "matches" / f"{pairing.name}.json").write_text(json.dumps(log))
    return pairing.name


def league(directory, bots, next_number=1000):
    """The league of these bots, with the results of the matches that are in the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    record = PracticeRecord(directory, LIMIT, next_number, bots)
    counted = [match for match in record.practice_matches() if record.is_current(match)]
    record = PracticeRecord(directory, LIMIT, next_number, results(bots, counted))
    record.write()
    return record
