"""The starter kit: what a student needs before the first strategy, in one zip.

It has both lists of infosets in the course's order, the uniform strategies in the same order, a loader in plain numpy,
and the course's sample program.  The web server hands out the lists from the same zip.  A process of its own makes
it, so that no submission waits for it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from string import Template

from pttt_ooc.course.data.settings import CourseSettings, read_settings
from pttt_ooc.course.data.storage import LISTS, Storage, find_handout
from pttt_ooc.course.strategies.assessor import Orders
from pttt_ooc.disk.files import explain_errors, replacing
from pttt_ooc.games.structure.index import Index
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.games.structure.views import Ints
from pttt_ooc.imports import code_digest, dependencies
from pttt_ooc.library.api.strategy_reader import rows_of
from pttt_ooc.pipeline.files.export_names import COURSE_FILES
from pttt_ooc.pipeline.files.infosets import as_lines, infoset_tables, row_blocks, text_width, texts_of
from pttt_ooc.pipeline.files.tensors import export_strategy
from pttt_ooc.pipeline.stages.normal_form import row_orders
from pttt_ooc.pipeline.stages.preparation import open_index

log = logging.getLogger("pttt.course.kit")
PROGRAM = "pttt_ooc.course.strategies.kit_process"
LEVEL = 6
"""The compression level of files that many people download."""

_RETRY_SECONDS = 60.0  # seconds until the next try, if a kit could not be made
_TEXTS = Path(__file__).parent / "kit"
_FOLDER = "starter-kit"
_MANY = 1 << 26  # rows whose files may have more than 4 GB


def revision_of(settings: CourseSettings, orders: Orders) -> str:
    """A digest of all that a kit depends on: kits of one revision have the same bytes."""
    code = code_digest(dependencies("course/strategies/starter_kit"))
    texts = [file.read_text(encoding="utf-8") for file in sorted(_TEXTS.iterdir())]
    parts = [settings.game, settings.title, row_orders(*orders), code, texts]
    return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()


def is_missing(storage: Storage, settings: CourseSettings) -> bool:
    """Whether a course has no starter kit, or one that was made of something else."""
    there = find_handout(storage.kit)
    return there is None or there.revision != revision_of(settings, settings.orders(storage.data))


class KitMaker:
    """Has the starter kit of a course made, unless it is there."""

    def __init__(self, storage: Storage, settings: CourseSettings) -> None:
        self._storage = storage
        self._process: subprocess.Popen[bytes] | None = None
        self._due: float | None = time.monotonic() if is_missing(storage, settings) else None

    def look_after(self) -> bool:
        """Start the process if it is due, or see whether it has ended; returns whether the kit is not made yet."""
        if self._process is not None and (code := self._process.poll()) is not None:
            self._end()
            self._due = time.monotonic() + _RETRY_SECONDS if code else None
            log.log(logging.ERROR if code else logging.INFO, "the starter kit", extra={"code": code})
        elif self._process is None and self._due is not None and time.monotonic() >= self._due:
            # Its standard input closes when this process dies: then it stops as well.
            command = [sys.executable, "-m", PROGRAM, str(self._storage.data)]
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, process_group=0)
        return self._due is not None

    def close(self) -> None:
        """Stop; a kit under way is made again by the next worker."""
        if self._process is not None:
            self._process.terminate()
            self._end()

    def _end(self) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._process = None


def write_kit_of(data: Path, file: Path) -> None:
    """Write the starter kit of the course in `data` to a file: the one that the course hands out.

    Raises
    ------
    PtttError
        If there is no such course, or a list of infosets is refused, or the file cannot be written.
    """
    settings, storage = read_settings(data), Storage(data)
    orders = settings.orders(data)
    index = open_index(storage.index, settings.game)
    rows = [rows_of(index, player, orders[player]) for player in (0, 1)]
    write_kit(file, settings, orders, index, rows)


def write_kit(file: Path, settings: CourseSettings, orders: Orders, index: Index, rows: Sequence[Ints]) -> None:
    """Write the starter kit.

    Parameters
    ----------
    index
        The index without symmetry.
    rows
        For each player int64, shape (infosets,): node number of each row, in the order of `orders`.

    Raises
    ------
    StoreError
        If it cannot be written.
    """
    with (
        replacing(file) as temporary,
        explain_errors(f"write {file}"),
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive,
    ):
        archive.comment = revision_of(settings, orders).encode()
        for name, text in _texts(settings).items():
            with archive.open(f"{_FOLDER}/{name}", "w") as target:  # without date, so that equal kits have equal bytes
                target.write(text.encode())
        for player, name in enumerate(LISTS):
            with archive.open(f"{_FOLDER}/{name}", "w", force_zip64=len(rows[player]) > _MANY) as target:
                for lines in _lines(index, player, rows[player]):
                    target.write(lines)
        for player, name in enumerate(COURSE_FILES[2:]):
            uniform = file.with_name(f"{file.name}.{name}")
            try:
                export_strategy(uniform_strategy(index, player), rows[player], uniform, compression_level=LEVEL)
                stored = zipfile.ZipInfo(f"{_FOLDER}/uniform/{name}")
                large = len(rows[player]) > _MANY
                with archive.open(stored, "w", force_zip64=large) as target, open(uniform, "rb") as source:
                    shutil.copyfileobj(source, target, 1 << 20)
            finally:
                uniform.unlink(missing_ok=True)


def _texts(settings: CourseSettings) -> dict[str, str]:
    facts = {
        "title": settings.title,
        "game": settings.game,
        "rows0": settings.infosets[0],
        "rows1": settings.infosets[1],
        "squares": settings.rules.squares,
        "last": settings.rules.squares - 1,
    }
    names = {"README.txt": "README.txt", "uniform.py": "uniform.py.txt", "strategies.py": "strategies.py.txt"}
    texts = {name: Template((_TEXTS / source).read_text(encoding="utf-8")) for name, source in names.items()}
    return {name: text.substitute(facts) for name, text in texts.items()}


def _lines(index: Index, player: int, rows: Ints) -> Iterator[bytes]:
    tables, width = infoset_tables(index, player), text_width(index, player)
    for _, nodes in row_blocks(rows):
        yield as_lines(texts_of(tables, width, nodes))
