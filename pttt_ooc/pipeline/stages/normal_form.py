"""Settings in normal form: values without effect are replaced by their defaults.

Two configurations with the same meaning have the same normal form.  Manifests hold it and are compared by it, so that
``alpha: 2.3`` makes nothing stale if 2.3 is the algorithm's default, nor does ``horizon: 7`` if no parameter moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from pttt_ooc.config import ExportConfig
from pttt_ooc.disk.files import digest
from pttt_ooc.errors import ConfigError
from pttt_ooc.pipeline.files.export_names import COURSE_FILES

_Section = TypeVar("_Section", bound=BaseModel)


def normal_export(settings: ExportConfig, game: str) -> ExportConfig:
    """The normal form of the settings of a game's export."""
    course, bundle = files = settings.files(game)
    usual = {key for key, own, default in zip(_FILES, files, ExportConfig().files(game), strict=True) if own == default}
    unused = set() if course else {"compression_level"}
    unused |= set() if course or bundle else {"dtype", "infosets_0", "infosets_1"}
    return left_out(settings, usual | unused)


def row_orders(*files: Path | None) -> list[str | None]:
    """Content hashes of infoset files, so that a changed file is noticed."""
    return [digest(file) if file else None for file in files]


def check_row_orders(results: Path, settings: ExportConfig) -> None:
    """Raise a ConfigError if a file of infosets is one of those that the export deletes and writes anew."""
    written = {(results / name).resolve() for name in COURSE_FILES}
    for key in ("infosets_0", "infosets_1"):
        file = getattr(settings, key)
        if file and file.resolve() in written:
            raise ConfigError(
                f"export.{key} is {file}, which the export itself writes; copy the file to another place and name that."
            )


_FILES = ("course", "bundle")


def left_out(section: _Section, keys: Iterable[str]) -> _Section:
    """A section of the configuration with the defaults of these keys."""
    fields = type(section).model_fields
    return section.model_copy(update={key: fields[key].default for key in keys})
