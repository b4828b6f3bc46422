"""What the leaderboard shows beside a team: changes of ranks, its best over time, what is judged; and a search."""

import re

from pttt_ooc.course.data.models import Submission, Team
from pttt_ooc.course.pages import rankings
from tests.course.server_kit import strategy_zip

DAY = 24 * 3600
STRATEGIES = {0.5391: (1, 0.2), 0.5675: (2, 1.0), 0.656: (1, 3.0), 0.7368: (1, 5.0)}
"""Seed and sharpness of strategies for player 0, by their exploitability."""


def move_back(lab, number, seconds):
    """As if a submission had come earlier."""
    with lab.database.writing() as session:
        found = session.get(Submission, number)
        for name in ("received_at", "begun_at", "finished_at"):
            if getattr(found, name) is not None:
                setattr(found, name, getattr(found, name) - seconds)


def row_of(text, team):
    return next(row for row in re.findall(r"<tr.*?</tr>", text, re.S) if f"<bdi>{team}</bdi>" in row)


def leaderboard(lab, query=""):
    lab.client.app.state.course.cache._entries.clear()  # as half a second later
    return lab.client.get(f"/{query}").text


def test_ranks_won_and_lost_in_a_day_and_the_curve_of_the_best(lab):
    tokens = {name: lab.team(name) for name in ("Early", "Late", "New")}
    for name, figure in (("Early", 0.5675), ("Late", 0.656)):
        number = lab.verdict(tokens[name], 0, strategy_zip(0, *STRATEGIES[figure]))["id"]
        move_back(lab, number, 2 * DAY)
    before = leaderboard(lab, "?sort=0")
    assert 'class="change' not in before and 'class="mini"' not in before
    lab.verdict(tokens["Late"], 0, strategy_zip(0, *STRATEGIES[0.5391]))
    lab.verdict(tokens["New"], 0, strategy_zip(0, *STRATEGIES[0.7368]))
    after = leaderboard(lab, "?sort=0")
    assert "up 1 in 24 hours" in row_of(after, "Late") and "down 1 in 24 hours" in row_of(after, "Early")
    assert "in 24 hours" not in row_of(after, "New")  # it had no rank
    assert 'class="mini"' in row_of(after, "Late") and 'class="mini"' not in row_of(after, "Early")
    assert "The best over 2 steps" in row_of(after, "Late")
    for query, expected in (("0", ["Late", "Early", "New"]), ("-0", ["New", "Early", "Late"])):
        page = leaderboard(lab, f"?sort={query}")
        assert re.findall(r'<th scope="row">.*?<bdi>(.*?)</bdi>', page) == [*expected, "Uniform"]  # without a figure
        assert f'aria-sort="{"descending" if query == "-0" else "ascending"}"' in page
        assert "up 1 in 24 hours" in row_of(page, "Late") and f"sort={query}&amp;seen=" in page
        assert f'<a href="/?sort={"0" if query == "-0" else "-0"}">Player 0</a>' in page


def test_a_sum_of_two_is_not_compared_with_a_figure_of_one():
    team = Team(id=1, name="A")
    steps = [(0, 0.5), (1, 0.25), (0, 0.125)]
    improved = [
        Submission(id=n, team_id=1, team=team, player=player, exploitability=figure, finished_at=float(n))
        for n, (player, figure) in enumerate(steps)
    ]
    assert "The best over 2 steps: from 0.75000 to 0.37500" in rankings.curves(improved[::-1])[1].label
    assert rankings.curves(improved[:2]) == {}


def test_what_is_judged_is_marked_and_renews_the_table(lab):
    token = lab.team("A")
    lab.verdict(token, 0, strategy_zip(0, 1, 1.0))
    text = leaderboard(lab)
    address = re.search(r'hx-get="(/parts/leaderboard[^"]*)"', text)[1].replace("&amp;", "&")
    assert lab.client.get(address).status_code == 204 and "in the queue" not in text
    lab.submit(token, 0, strategy_zip(0, 2, 0.5))
    lab.client.app.state.course.cache._entries.clear()
    renewed = lab.client.get(address)
    assert renewed.status_code == 200 and "in the queue" in row_of(renewed.text, "A")
    lab.run()
    assert "in the queue" not in leaderboard(lab)


def test_a_team_is_found_by_a_part_of_its_name_in_any_spelling(lab):
    for name in ("Kaffee Österreich", "Tea", "Teapot"):
        lab.team(name)
    text = leaderboard(lab, "?find=TEA&sort=team")
    assert [name for name in ("Kaffee Österreich", "Tea", "Teapot") if f"<bdi>{name}</bdi>" in text] == [
        "Tea",
        "Teapot",
    ]
    assert "/?sort=0&amp;find=TEA" in text and "find=TEA" in re.search(r'hx-get="([^"]*)"', text)[1]
    assert "<bdi>Kaffee Österreich</bdi>" in leaderboard(lab, "?find=%C3%B6ster")
    none = leaderboard(lab, "?find=%3Cb%3E")
    assert "No team has “&lt;b&gt;” in its name" in none and "<bdi>Tea" not in none
    assert lab.client.get(f"/?find={'a' * 61}").status_code == 422
    assert "<bdi>Kaffee" in leaderboard(lab, "?find=%20")


def test_a_change_is_told_for_a_day_only(lab):
    tokens = {name: lab.team(name) for name in ("A", "B")}
    for name, figure, back in (("A", 0.5675, 72), ("B", 0.656, 72), ("B", 0.5391, 25)):
        number = lab.verdict(tokens[name], 0, strategy_zip(0, *STRATEGIES[figure]))["id"]
        move_back(lab, number, back * 3600)
    assert "in 24 hours" not in leaderboard(lab, "?sort=0")
    move_back(lab, number, -2 * 3600)
    assert "up 1 in 24 hours" in row_of(leaderboard(lab, "?sort=0"), "B")
