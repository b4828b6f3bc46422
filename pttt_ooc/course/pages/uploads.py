"""Uploads, as multipart forms, from the network to the disk; one piece of the stream at a time is in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from anyio import to_thread
from fastapi import HTTPException, Request, Response
from fastapi.concurrency import run_in_threadpool
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from pttt_ooc.course.data.limits import BYTES_PER_SECOND, Flight
from pttt_ooc.course.data.models import Judged, Team
from pttt_ooc.course.data.storage import Incoming, Storage
from pttt_ooc.course.pages.context import Course, needed_team
from pttt_ooc.site.shell.arrival import ARRIVAL
from pttt_ooc.site.shell.forms import FORM_FIELD, check_form, check_origin
from pttt_ooc.site.shell.shell import Shell

Row = TypeVar("Row", bound=Judged)
Fields = dict[str, str]
_FIELDS_BYTES = 8192  # of all fields except the file, headers of parts included
_SILENT_SECONDS = 60.0  # seconds without a byte
_WHOLE_SECONDS = 3600.0  # seconds for a whole upload: promises of room on the disk must end


class _Form:
    """Collects the fields of a form and writes its file."""

    def __init__(
        self, boundary: bytes, storage: Storage, limit: int, check: Callable[[Fields], object], flight: Flight
    ) -> None:
        self.fields: Fields = {}
        self.incoming: Incoming | None = None
        self.ended = False
        self._storage, self._limit, self._check, self._flight = storage, limit, check, flight
        self._name, self._header, self._value, self._text = "", b"", b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._spent, self._is_file, self._whole = 0, False, 0
        names = ("part_begin", "part_data", "part_end", "header_field", "header_value", "header_end")
        callbacks: Any = {f"on_{n}": getattr(self, f"_{n}") for n in (*names, "headers_finished", "end")}
        self.parser = MultipartParser(boundary, callbacks)

    def write(self, data: bytes) -> None:
        """Parse the next bytes of the body; bytes before, between and after the parts count too."""
        self._whole += len(data)
        if self._whole > _longest_body(self._limit):
            raise _too_large(self._limit)
        self.parser.write(data)

    def _spend(self, size: int) -> None:
        self._spent += size
        if self._spent > _FIELDS_BYTES:
            raise HTTPException(400, "The form has fields that are too long; send the file in the field 'file'.")

    def _part_begin(self) -> None:
        self._headers, self._text, self._header, self._value = {}, b"", b"", b""
        self._spend(16)

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._spend(end - start)
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._spend(end - start)
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._header.lower()] = self._value
        self._header = self._value = b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._name = options.get(b"name", b"").decode("latin-1")
        self._is_file = self._name == "file"
        if self.incoming is not None:  # what comes after a file has not been checked before it
            raise HTTPException(400, "The file must come last in the form, and only once.")
        if b"filename" in options and not self._is_file:
            raise HTTPException(400, f"The file is sent as {self._name[:40]!r}; send it in the field 'file'.")
        if self._is_file:
            self._check(self.fields)
            name = options.get(b"filename", b"").decode("utf-8", "replace")
            self.incoming = Incoming(self._storage, name)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if not self._is_file:
            self._spend(end - start)
            self._text += data[start:end]
            return
        assert self.incoming is not None
        if self.incoming.size + end - start > self._limit:
            raise _too_large(self._limit)
        self.incoming.write(data[start:end])
        self._flight.wrote(end - start)

    def _part_end(self) -> None:
        if not self._is_file:
            self.fields[self._name] = self._text.decode("utf-8", "replace")

    def _end(self) -> None:
        self.ended = True


def _longest_body(limit: int) -> int:
    return limit + 2 * _FIELDS_BYTES


def _too_large(limit: int) -> HTTPException:
    return HTTPException(413, f"The file is larger than {limit:,} bytes, the limit of this course.")


@dataclass(frozen=True)
class Intake(Generic[Row]):
    """How files of one kind are taken in.

    Attributes
    ----------
    largest
        Bytes that a file may have.
    fields
        The fields of the form, as a sentence names them.
    check_limits
        Raises a SubmissionError if the team may not submit now, while so many other files of it are being received, or
        if no assignment takes a file whose upload began at this time.
    take_in
        Makes a row of a received file; returns it, and whether it is new.
    check_fields
        Called with the fields before the file; what it raises ends the request.
    """

    largest: int
    fields: str
    check_limits: Callable[[Team, int, float], None]
    take_in: Callable[[Team, Fields, Incoming], tuple[Row, bool]]
    check_fields: Callable[[Fields], object] = lambda fields: None


async def from_browser(
    request: Request, shell: Shell, course: Course, intake: Intake[Row], team: Team | None
) -> tuple[Row, bool]:
    """Take in a file from the form of a page; see :func:`take_in`.  401 or 403 if the form is not the team's own."""
    check_origin(request)
    team = needed_team(request, team, "You are not signed in any more; sign in and send the file again.")

    def check(fields: Fields) -> None:
        check_form(request, shell, fields.get(FORM_FIELD, ""))

    return await take_in(request, course, intake, team, check)


async def from_program(
    request: Request, response: Response, course: Course, intake: Intake[Row], team: Team
) -> tuple[Row, bool]:
    """Take in a file that a program has sent; the answer is 201, or 200 if it is not new.  See :func:`take_in`."""
    row, new = await take_in(request, course, intake, team)
    response.status_code = 201 if new else 200
    response.headers["Location"] = f"{request.url.path}/{row.id}"
    return row, new


async def take_in(
    request: Request,
    course: Course,
    intake: Intake[Row],
    team: Team,
    check: Callable[[Fields], object] = lambda fields: None,
) -> tuple[Row, bool]:
    """Receive a file, which a worker then judges; returns its row, and whether it is new.

    Parameters
    ----------
    check
        Called with the fields before the file, when the file begins; what it raises ends the request.

    Raises
    ------
    HTTPException, SubmissionError, FullDiskError
        If it is refused.
    """
    with course.in_flight.begin(team.id, request.scope[ARRIVAL]) as flight:
        await run_in_threadpool(intake.check_limits, team, flight.ahead, flight.begun_at)
        fields, incoming = await receive(request, course, intake, check, flight)
        return await to_thread.run_sync(intake.take_in, team, fields, incoming, limiter=course.taking)


async def receive(
    request: Request, course: Course, intake: Intake[Row], check: Callable[[Fields], object], flight: Flight
) -> tuple[Fields, Incoming]:
    """The fields of a multipart form, and its part ``file`` in a file, which the caller keeps or discards.

    Parameters
    ----------
    check
        See :func:`take_in`.
    flight
        The upload, to which room on the disk is promised.

    Raises
    ------
    HTTPException
        If the body is not such a form, or is too large, or its sender stalls.
    FullDiskError
        If there is no room for it.
    """
    kind, options = parse_options_header(request.headers.get("content-type"))
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 200:
        raise HTTPException(415, f"A submission is a form (multipart/form-data) with {intake.fields}.")

    def check_all(fields: Fields) -> None:
        check(fields)
        intake.check_fields(fields)

    course.in_flight.promise(flight, _length_of(request, intake.largest))
    form = _Form(boundary, course.storage, intake.largest, check_all, flight)
    try:
        await _feed(request.stream(), form, flight)
        if not form.ended or form.incoming is None:
            raise HTTPException(400, "The form has no file, or is cut off.")
        form.incoming.begun_at = flight.begun_at
        return form.fields, form.incoming
    except BaseException:
        if form.incoming is not None:
            form.incoming.discard()
        raise


def form_schema(file: str, **fields: dict[str, Any]) -> dict[str, Any]:
    """A form for the API's documentation: these fields, and then a file, described by `file`."""
    properties = {**fields, "file": {"type": "string", "format": "binary", "description": file}}
    schema = {"type": "object", "required": list(properties), "properties": properties}
    return {"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}}}


def _length_of(request: Request, limit: int) -> int:
    """The length of the body, or, if it is not given, the largest that it may have."""
    text = request.headers.get("content-length", "")
    length = int(text) if text.isdecimal() and len(text) < 19 else _longest_body(limit)
    if length > _longest_body(limit):
        raise _too_large(limit)
    return length


async def _feed(stream: AsyncIterator[bytes], form: _Form, flight: Flight) -> None:
    try:
        async with asyncio.timeout(_SILENT_SECONDS) as silence:
            async for data in stream:
                flight.come()
                if flight.arrival.waited > min(_SILENT_SECONDS + flight.size / BYTES_PER_SECOND, _WHOLE_SECONDS):
                    slow = f"{flight.size:,} bytes of the file have come in {flight.arrival.waited:.0f} seconds"
                    raise HTTPException(408, f"{slow}, which is too slow; send it again over a faster line.")
                # Parsing and writing small pieces takes less time than handing them to a thread.
                form.write(data)
                silence.reschedule(asyncio.get_running_loop().time() + _SILENT_SECONDS)
    except TimeoutError:
        raise HTTPException(408, f"Nothing has arrived for {_SILENT_SECONDS:.0f} seconds; send it again.") from None
    except FormParserError:
        raise HTTPException(400, "The form is damaged; send it again.") from None
    except ClientDisconnect:
        raise HTTPException(400, "The connection was closed.") from None
