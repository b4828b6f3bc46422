"""Settings in their normal form: what changes nothing is as if it had been left out.

Two configurations that mean the same have the same normal form.  Manifests hold it, and it is what is compared, so that
``alpha: 2.3`` makes nothing stale where 2.3 is the algorithm's default, nor does ``horizon: 7`` where nothing moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from pttt_ooc.config import ExportConfig
from pttt_ooc.disk.files import digest

_Section = TypeVar("_Section", bound=BaseModel)


def normal_export(settings: ExportConfig, game: str) -> ExportConfig:
    """The normal form of what is exported of a game."""
    course, bundle = files = settings.files(game)
    usual = {key for key, own, default in zip(_FILES, files, ExportConfig().files(game), strict=True) if own == default}
    unused = set() if course else {"compression_level"}
    unused |= set() if course or bundle else {"dtype", "infosets_0", "infosets_1"}
    return left_out(settings, usual | unused)


def row_orders(*files: Path | None) -> list[str | None]:
    """Content hashes of files of infosets, so that a file with other lines under the same name is noticed."""
    return [digest(file) if file else None for file in files]


_FILES = ("course", "bundle")


def left_out(section: _Section, keys: Iterable[str]) -> _Section:
    """A section of the configuration with the defaults of these keys."""
    fields = type(section).model_fields
    return section.model_copy(update={key: fields[key].default for key in keys})
