"""Tables: as text for people, as CSV for other programs, as HTML for notebooks.

A table of text is as wide as the terminal allows.  Where it is narrow, cells are broken between words; where even that
is not enough, each row becomes a paragraph.  No word is cut, be it a number or the name of a file, and a word that is
wider than the terminal stays whole.  A pipe has no width: nothing is broken there.
"""

from __future__ import annotations

import csv
import io
import shutil
import sys
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_GAP = "  "  # between columns
_BLANK = "\0"  # within a name; no name has it


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as comma-separated values below a line of names; all rows have the keys of the first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def html_table(caption: str, rows: Iterable[Sequence[object]], headings: Sequence[str] = ()) -> str:
    """A plain HTML table, without styles; all text is escaped.

    Parameters
    ----------
    rows
        The first cell of each row is the row's heading.
    headings
        The headings of the columns; default: none.
    """
    lines = [f"<table>\n<caption>{escape(caption)}</caption>"]
    if headings:
        lines.append("<tr>" + "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings) + "</tr>")
    for name, *cells in rows:
        texts = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{escape(str(name))}</th>{texts}</tr>')
    return "\n".join([*lines, "</table>"])


def whole(name: object) -> str:
    """A name for a table of text, such as a file's: it is not broken at its blanks."""
    return str(name).replace(" ", _BLANK)


def print_table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table below its headings, the first column to the left and the others to the right."""
    print(text_table(headings, rows, terminal_width()))


def print_facts(facts: Iterable[tuple[object, object]]) -> None:
    """Print names, each with what is known of it."""
    print(text_facts(facts, terminal_width()))


def terminal_width() -> int | None:
    """The number of columns of the terminal that output goes to; None if it goes to none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def text_table(headings: Sequence[str], rows: Iterable[Sequence[object]], width: int | None = None) -> str:
    """Rows as text; see :func:`print_table`.

    Parameters
    ----------
    width
        The number of columns; default: no limit.
    """
    lines = [[_printable_text(cell) for cell in row] for row in (headings, *rows)]
    widths = _widths(lines, width)
    if widths is not None:
        return _columns(lines, widths, [False, *[True] * (len(headings) - 1)])
    paragraphs = ["\n".join(_pair(*both, width) for both in zip(lines[0], line, strict=True)) for line in lines[1:]]
    return "\n\n".join(paragraphs).replace(_BLANK, " ")


def text_facts(facts: Iterable[tuple[object, object]], width: int | None = None) -> str:
    """Names and values as text; see :func:`print_facts` and :func:`text_table`."""
    lines = [[_printable_text(name), _printable_text(value)] for name, value in facts]
    widths = _widths(lines, width)
    if widths is not None:
        return _columns(lines, widths, [False, False])
    return "\n".join(_pair(name, value, width) for name, value in lines).replace(_BLANK, " ")


def _printable_text(cell: object) -> str:
    return "".join(c if c.isprintable() or c == _BLANK else repr(c)[1:-1] for c in str(cell))


def _widths(lines: Sequence[Sequence[str]], width: int | None) -> list[int] | None:
    """The widths of the columns, so that words stay whole; None if there is not enough space."""
    columns = list(zip(*lines, strict=True))
    widths = [max(map(len, column)) for column in columns]
    least = [max(len(word) for cell in column for word in [*cell.split(" "), ""]) for column in columns]
    if width is None:
        return widths
    space = width - len(_GAP) * (len(columns) - 1)
    if sum(least) > space:
        return None
    while sum(widths) > space:
        widest = max((n for n in range(len(columns)) if widths[n] > least[n]), key=lambda n: widths[n])
        widths[widest] -= 1
    return widths


def _columns(lines: Sequence[Sequence[str]], widths: Sequence[int], right: Sequence[bool]) -> str:
    shown = []
    for line in lines:
        cells = [wrap_text(cell, width) for cell, width in zip(line, widths, strict=True)]
        for n in range(max(map(len, cells))):
            parts = [cell[n] if n < len(cell) else "" for cell in cells]
            aligned = [
                part.rjust(width) if to_right else part.ljust(width)
                for part, width, to_right in zip(parts, widths, right, strict=True)
            ]
            shown.append(_GAP.join(aligned).replace(_BLANK, " ").rstrip())
    return "\n".join(shown)


def _pair(name: str, value: str, width: int | None) -> str:
    return "\n".join(wrap_text(f"{name}: {value}" if name else value, width, "  "))


def wrap_text(text: str, width: int | None, indent: str = "") -> list[str]:
    """A text as lines of at most so many columns, unless a word has more; all but the first are indented."""
    if width is None or len(text) <= width:
        return [text]
    settings: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False, "subsequent_indent": indent}
    return textwrap.wrap(text, max(1, width), **settings) or [""]
