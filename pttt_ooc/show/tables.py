"""Tables: as CSV for other programs, as HTML for notebooks."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


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
        Of the columns; default: none.
    """
    lines = [f"<table>\n<caption>{escape(caption)}</caption>"]
    if headings:
        lines.append("<tr>" + "".join(f'<th scope="col">{escape(heading)}</th>' for heading in headings) + "</tr>")
    for name, *cells in rows:
        texts = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        lines.append(f'<tr><th scope="row">{escape(str(name))}</th>{texts}</tr>')
    return "\n".join([*lines, "</table>"])
