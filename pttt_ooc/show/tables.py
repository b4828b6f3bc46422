"""Tables for other programs."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any


def csv_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as comma-separated values, with a line of names; all rows have the keys of the first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
