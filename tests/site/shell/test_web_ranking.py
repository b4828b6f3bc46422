"""Rankings: sorted by any column, searched in any spelling, and by how many ranks each has risen."""

import pytest

from pttt_ooc.site.shell.ranking import Column, RankingQuery, rank_changes, ranking

ROWS = [("Éva", 3, 0.5), ("bo", 1, None), ("Al", 3, 0.25), ("Cy", 2, 0.5)]
COLUMNS = {
    "score": Column("Score", lambda row: -row[1], falls=True),
    "name": Column("Name", lambda row: row[0].casefold(), text=True),
    "share": Column("Share", lambda row: row[2]),
}


def names(**asked):
    return [row[0] for row in ranking(ROWS, COLUMNS, lambda row: row[0], "/here", RankingQuery(**asked)).rows]


@pytest.mark.parametrize(
    "asked, expected",
    [
        ({}, ["Éva", "Al", "Cy", "bo"]),  # the first column; ties stay as they were
        ({"sort": "nothing"}, ["Éva", "Al", "Cy", "bo"]),
        ({"sort": "name"}, ["Al", "bo", "Cy", "Éva"]),
        ({"sort": "share"}, ["Al", "Éva", "Cy", "bo"]),  # what has no value comes last
        ({"sort": "-share"}, ["Éva", "Cy", "Al", "bo"]),  # also the other way round
        ({"sort": "-score"}, ["bo", "Cy", "Éva", "Al"]),
        ({"sort": "-nothing"}, ["Éva", "Al", "Cy", "bo"]),
        ({"sort": "--name"}, ["Éva", "Al", "Cy", "bo"]),
        ({"sort": "-"}, ["Éva", "Al", "Cy", "bo"]),
        ({"find": " E\u0301V "}, ["Éva"]),
        ({"find": "\uff22O"}, ["bo"]),
        ({"find": "x"}, []),
    ],
)
def test_rows_are_sorted_and_searched(asked, expected):
    assert names(**asked) == expected


def test_the_address_is_kept():
    made = ranking(ROWS, COLUMNS, lambda row: row[0], "/here", RankingQuery("share", " a "), page=2, of=None)
    assert (made.sort, made.find, made.path, made.fields) == ("share", "a", "/here", {"page": 2, "of": None})


@pytest.mark.parametrize(
    "sort, direction, click",
    [
        ("score", "descending", "-score"),
        ("-score", "ascending", "score"),
        ("share", "ascending", "-share"),
        ("-share", "descending", "share"),
        ("-nothing", "descending", "-score"),  # as the first column
    ],
)
def test_a_click_on_the_head_that_sorts_turns_the_order_round(sort, direction, click):
    made = ranking(ROWS, COLUMNS, lambda row: row[0], "/here", RankingQuery(sort))
    assert (made.direction(made.column), made.click(made.column)) == (direction, click)
    assert (made.direction("name"), made.click("name")) == ("", "name")
    shown = [row[{"score": 1, "share": 2}[made.column]] for row in made.rows if row[0] != "bo"]
    assert shown == sorted(shown, reverse=direction == "descending")


def test_who_had_a_rank_and_has_another_has_risen_or_fallen():
    assert rank_changes({1: 2, 2: 1, 3: 3, 4: 4, 5: None}, {1: 1, 2: 4, 3: 3, 5: 5}) == {1: -1, 2: 3}
