"""How `grader.tar.gz` was made, by the package as commit a536964 has it.

    git archive a536964 | tar x -C OLD
    cd OLD && PYTHONPATH=.:tests:tests/grader python THIS/make.py THIS/grader.tar.gz

It holds a grader's directory as `pttt serve` leaves it, and `copy.tar`, which the `pttt grader backup` of then has
written.  In the directory are two teams (a third one was removed), verdicts of all kinds, one submission that waits,
one that is open for play, a person's game, and a league with a bot.
"""

import json
import sys
import tarfile
import tempfile
from pathlib import Path

from coursekit import GOOD, Course
from kit import pttt, strategy_zip

from pttt_ooc.explore.games import Base as GamesTables
from pttt_ooc.explore.games import Row
from pttt_ooc.explore.games_file import games_file
from pttt_ooc.grader.submissions import open_to_play
from pttt_ooc.web.kept import Kept


def filled(data):
    """A grader with a league in a directory; returns what it says of itself."""
    course = Course(data)
    lab = course.lab
    lab.baseline()  # submissions 1 and 2
    lab.verdict(lab.team("Team C"), 0, strategy_zip(0, 9))  # 3
    assert pttt("grader", "remove-team", "Team C", "--yes", "--data", data).returncode == 0
    for player, seed in ((0, 1), (0, 2), (1, 3)):  # 4, 5, 6
        lab.verdict(lab.tokens["Team A"], player, strategy_zip(player, seed))
    lab.verdict(lab.tokens["Team B"], 0, strategy_zip(0, 4))  # 7
    lab.verdict(lab.tokens["Team B"], 1, b"no zip")  # 8, rejected
    open_to_play(lab.database, 4, True)
    course.hand_in("Team A", GOOD)
    course.post("Team B", GOOD + b"# not checked yet")
    lab.sign_in(lab.tokens["Team A"])
    lab.submit(lab.tokens["Team B"], 1, strategy_zip(1, 5))  # 9 waits
    kept = Kept(games_file(data), "games", GamesTables.metadata)
    with kept.writing() as session:
        session.add(
            Row(
                id="a" * 22, owner="team 2", started_at=5.0, changed_at=6.0, rules="mini-2x3k2-abrupt",
                opponent="uniform", opponent_name="Uniform", digest="0", player=0, attempts="01", result=1,
            )
        )  # fmt: skip
    kept.close()
    board = lab.client.get("/api/leaderboard").json()
    matrix = lab.client.get("/api/matrix").json()
    submissions = lab.client.get("/api/submissions?size=100").json()["submissions"]
    told = {"tokens": lab.tokens, "leaderboard": board, "matrix": matrix, "submissions": submissions}
    course.close()
    return told


def main():
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        told = filled(place / "grader")
        done = pttt("grader", "backup", place / "copy.tar", "--data", place / "grader")
        assert done.returncode == 0, done
        (place / "told.json").write_text(json.dumps(told, indent=1))
        with tarfile.open(sys.argv[1], "w:gz") as archive:
            for entry in ("grader", "copy.tar", "told.json"):
                archive.add(place / entry, entry, filter=plain)


def plain(member):
    """A member without the names of people and machines; None for what can be made again."""
    if member.name.startswith(("grader/gradients/", "grader/index/")) or "matches" in member.name:
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    main()
