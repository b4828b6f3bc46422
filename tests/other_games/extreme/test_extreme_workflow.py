"""A tournament as jobs of the workflow: three small bots, a match that is lost, and bots that have changed."""

import json

import pytest

from pttt_ooc.cli import commands
from tests.other_games.extreme.bot_kit import bot_text, walls_missing
from tests.pipeline.stages.test_workflow import Workflow

SECTION = {"bots": "bots", "pools": [1], "qualify": [1], "marks": [10], "time_limit": 60, "seed": 5}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    workflow = Workflow.fresh(tmp_path_factory.mktemp("extreme") / "w")
    workflow.configure("extreme", **SECTION, sandbox=not walls_missing())
    (workflow.directory / "bots").mkdir()
    for n in (1, 2, 3):
        body = f"cells = board.find_valid_move_cells(old_move)\nreturn cells[{n} * (old_move[1] + 2) % len(cells)]"
        (workflow.directory / f"bots/team{n}.py").write_text(bot_text(body, name=f"Team{n}"))
    workflow.told = workflow.succeed("extreme")
    return workflow


def results(workflow):
    return workflow.directory / "data/extreme/runs/default"


def times(workflow):
    return {file.name: file.stat().st_mtime_ns for file in (results(workflow) / "matches").glob("*.json")}


@pytest.mark.slow
def test_matches_are_jobs_and_the_standings_are_those_of_the_command(finished, tmp_path):
    assert finished.told.count("Play final-1-") == 6 and len(times(finished)) == 6
    sandbox = [] if not walls_missing() else ["--no-sandbox"]
    options = ["--pools", "1", "--qualify", "1", "--marks", "10", "--time-limit", "60", "--seed", "5", *sandbox]
    with pytest.raises(SystemExit):
        commands.main(["extreme", "tournament", str(finished.directory / "bots"), "-o", str(tmp_path / "t"), *options])
    for name in ("standings.json", "standings.csv", "marks.csv"):
        assert (results(finished) / name).read_bytes() == (tmp_path / "t" / name).read_bytes()
    page, rows = (
        (results(finished) / "report.html").read_text(),
        json.loads((tmp_path / "t/standings.json").read_text()),
    )
    assert "3 teams played 6 matches" in page and f"<strong>{rows[0]['rows'][0]['team']}</strong>" in page


@pytest.mark.long
def test_only_a_match_that_is_lost_is_played_again(finished):
    before = times(finished)
    lost = sorted(before)[2]
    (results(finished) / "matches" / lost).unlink()
    told = finished.succeed("extreme")
    assert told.count("Play final-1-") == 1
    after = times(finished)
    assert {name for name in after if after[name] != before[name]} == {lost}
    assert "Play final" not in finished.succeed("extreme", "--dry-run")


@pytest.mark.long
def test_bots_that_have_changed_are_refused_and_nothing_is_lost(finished):
    before, file = times(finished), finished.directory / "bots/team1.py"
    text = file.read_text()
    file.write_text(text + "\n# Another one.\n")
    done = finished.run("extreme")
    assert done.returncode != 0 and "holds a tournament with other bots" in done.stderr + done.stdout
    assert "name another extreme.run" in done.stderr + done.stdout and times(finished) == before
    file.write_text(text)
    assert "Play final" not in finished.succeed("extreme") and times(finished) == before


@pytest.mark.slow
def test_a_wrong_section_is_refused_in_one_sentence(finished):
    before = (finished.directory / "config.yaml").read_text()
    finished.configure("extreme", pools=[2, 2])
    done = finished.run("extreme", "--dry-run")
    assert done.returncode != 0 and "the last stage is one pool" in done.stderr and "Traceback" not in done.stderr
    (finished.directory / "config.yaml").write_text(before)
