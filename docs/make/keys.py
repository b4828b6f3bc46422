"""The table of keys in docs/workflow.md, made from the configuration's models: ``python -m docs.make.keys --write``.

Without ``--write``, the command says whether the page differs from it.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from pttt_ooc.config import Config

PAGE = Path(__file__).parents[1] / "workflow.md"
_TABLE = re.compile(r"(?<=<!-- keys -->\n\n).*?(?=\n<!-- end of keys -->)", re.DOTALL)


def rows(model: type[BaseModel]) -> Iterator[tuple[str, str, str]]:
    """The key, the default and the description of each key; a section follows the row with its name."""
    for key, field in model.model_fields.items():
        inner = field.annotation
        if inspect.isclass(inner) and issubclass(inner, BaseModel):
            yield f"**`{key}:`**", "", " ".join(filter(None, (inspect.getdoc(inner), field.description)))
            yield from rows(inner)
        else:
            yield f"`{key}`", f"`{_default_text(field.default)}`", _description(field)


def _default_text(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, tuple):
        return json.dumps(value)
    return f"{value:g}" if isinstance(value, float) else str(value)


def _description(field: FieldInfo) -> str:
    """The description, and all allowed words if it does not name each of them."""
    text, words = field.description or "", get_args(field.annotation)
    if get_origin(field.annotation) is Literal and not all(word in text for word in words):
        text += f" One of {', '.join(f'`{word}`' for word in words)}."
    # A value stands before a colon and its meaning.
    values = "|".join(re.escape(str(word)) for word in ("null", *words) if isinstance(word, str))
    return re.sub(rf"(?<![`\w])({values})(?=:)", r"`\1`", text)


def table() -> str:
    """The table as Markdown."""
    lines = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows(Config)]
    return "| key | default | |\n|---|---|---|\n" + "".join(lines)


def rendered(text: str) -> str:
    """The page with the table that follows from the models."""
    return _TABLE.sub(lambda _: table(), text)


def main() -> int:
    """Write the table, or say whether it differs."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true", help="write the table into the page")
    write, text = options.parse_args().write, PAGE.read_text(encoding="utf-8")
    is_stale = rendered(text) != text
    if write:
        PAGE.write_text(rendered(text), encoding="utf-8")
    print(f"{'Written' if write else 'Stale'}: {PAGE.name if is_stale else 'none'}.")
    return int(is_stale and not write)


if __name__ == "__main__":
    sys.exit(main())
