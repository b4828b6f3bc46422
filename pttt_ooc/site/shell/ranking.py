"""Rankings on pages: sorted by a column that the reader chooses, searched, with changes of ranks and a heat map.

``web/ranking.html`` has the parts of which their tables are made.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Depends, Query

STEPS = 5
"""Shades on either side of the middle of a heat map's scale."""

TURNED = "-"
"""Stands before the key of a column in an address if the order is reversed."""

Row = TypeVar("Row")
Key = TypeVar("Key")
Order = Annotated[str, Query(max_length=20)]
Find = Annotated[str, Query(max_length=60)]


@dataclass(frozen=True)
class RankingQuery:
    """What the query of an address asks of a ranking: how to sort it, and which text to search for."""

    sort: Order = ""
    find: Find = ""


AskedRanking = Annotated[RankingQuery, Depends(RankingQuery)]


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column by which a ranking can be sorted.

    Attributes
    ----------
    label
        Its head.
    key
        What it sorts by, the smallest first; rows whose key is None come last.
    falls
        Whether the values that a reader sees then fall from row to row.
    text
        Whether the head stands over text.
    """

    label: str
    key: Callable[[Row], Any]
    falls: bool = False
    text: bool = False


@dataclass(frozen=True)
class Ranking(Generic[Row]):
    """A ranking as the address of its page asks for it.

    Attributes
    ----------
    columns
        The columns that can sort it, by their key in the address.
    rows
        The rows that were found, sorted.
    sort
        The key of the column that sorts; with :data:`TURNED` before it, in reverse order.
    find
        The text to search for; empty: all rows.
    path, fields
        The page's address, and what else its query says.
    """

    columns: Mapping[str, Column[Row]]
    rows: list[Row]
    sort: str
    find: str
    path: str
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def column(self) -> str:
        """The key of the column that sorts."""
        return self.sort.removeprefix(TURNED)

    def click(self, key: str) -> str:
        """How to sort after a click on the head of a column: by it, or in reverse if it sorts already."""
        return sort_after_click(self.sort, key)

    def direction(self, key: str) -> str:
        """How a column's values run from row to row: ``ascending`` or ``descending``; empty if it does not sort."""
        if key != self.column:
            return ""
        return "descending" if self.columns[key].falls != (key != self.sort) else "ascending"


def sort_after_click(sort: str, key: str) -> str:
    """How to sort after a click on the head of a column, if the address says `sort`."""
    return TURNED + key if key == sort else key


def sorted_by(columns: Mapping[str, Column[Any]], sort: str) -> str:
    """What an address says of the order, if it names one of these columns, or its reverse; else the first column."""
    return sort if sort.removeprefix(TURNED) in columns else next(iter(columns))


def ranking(
    rows: Iterable[Row],
    columns: Mapping[str, Column[Row]],
    name: Callable[[Row], str],
    path: str,
    asked: RankingQuery,
    /,
    **fields: Any,
) -> Ranking[Row]:
    """A ranking of rows, sorted and searched as a reader asks.

    Parameters
    ----------
    rows
        The rows in their usual order; those that tie stay in it.
    columns
        The first one sorts if the address names none of them; rows that have no value come last either way.
    name
        The text of a row that is searched.
    """
    sort, find = sorted_by(columns, asked.sort), asked.find.strip()
    key, wanted = columns[sort.removeprefix(TURNED)].key, fold_text(find)
    there = [row for row in rows if wanted in fold_text(name(row))]
    known = sorted((row for row in there if key(row) is not None), key=key, reverse=sort.startswith(TURNED))
    return Ranking(columns, known + [row for row in there if key(row) is None], sort, find, path, fields)


def fold_text(text: str) -> str:
    """A text for comparing: capitals, widths and encodings of accents make no difference."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text).casefold())


def rank_changes(now: Mapping[Key, int | None], before: Mapping[Key, int | None]) -> dict[Key, int]:
    """By how many ranks each one has risen; only those that had a rank and now have another."""
    found = {}
    for key, rank in now.items():
        former = before.get(key)
        if rank is not None and former is not None and rank != former:
            found[key] = former - rank
    return found


def shade(value: float, middle: float, extent: float) -> int:
    """Step of the colour scale, from -STEPS to STEPS, of a value that is at most `extent` from the middle."""
    if extent <= 0:
        return 0
    return max(-STEPS, min(STEPS, round((value - middle) / extent * STEPS)))
