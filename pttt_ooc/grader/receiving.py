"""Uploads, as multipart forms, from the network to the disk: what is in memory is one piece of the stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import HTTPException, Request
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect

from pttt_ooc.grader.storage import RESERVE, Incoming, Storage

Fields = dict[str, str]
_FIELDS_BYTES = 8192  # of all fields but the file, headers of parts included
_STALLED = 60.0  # seconds without a byte
_DRAIN = 32 << 20  # so much of a refused body is read, as browsers show the answer only when they have sent it


class _Form:
    """Collects the fields of a form and writes its file."""

    def __init__(self, boundary: bytes, storage: Storage, limit: int, check: Callable[[Fields], object]) -> None:
        self.fields: Fields = {}
        self.incoming: Incoming | None = None
        self.ended = False
        self._storage, self._limit, self._check = storage, limit, check
        self._name, self._header, self._value, self._text = "", b"", b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._spent, self._is_file = 0, False
        names = ("part_begin", "part_data", "part_end", "header_field", "header_value", "header_end")
        callbacks: Any = {f"on_{n}": getattr(self, f"_{n}") for n in (*names, "headers_finished", "end")}
        self.parser = MultipartParser(boundary, callbacks)

    def _spend(self, size: int) -> None:
        self._spent += size
        if self._spent > _FIELDS_BYTES:
            raise HTTPException(400, "The form has fields that are longer than any that is asked for.")

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
        if self._is_file:
            if self.incoming is not None:
                raise HTTPException(400, "The form has more than one file.")
            self._check(self.fields)
            self.incoming = Incoming(self._storage)

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        if not self._is_file:
            self._spend(end - start)
            self._text += data[start:end]
            return
        assert self.incoming is not None
        self.incoming.write(data[start:end])
        if self.incoming.size > self._limit:
            raise _too_large(self._limit)

    def _part_end(self) -> None:
        if not self._is_file:
            self.fields[self._name] = self._text.decode("utf-8", "replace")

    def _end(self) -> None:
        self.ended = True


def _too_large(limit: int) -> HTTPException:
    return HTTPException(413, f"The file is larger than {limit:,} bytes, which is the limit here.")


async def receive(
    request: Request, storage: Storage, limit: int, check: Callable[[Fields], object]
) -> tuple[Fields, Incoming]:
    """The fields of a multipart form, and its part ``file`` in a file, which the caller keeps or discards.

    Parameters
    ----------
    limit
        Bytes that the file may have.
    check
        Called with the fields that came before the file, when the file begins; what it raises ends the request.

    Raises
    ------
    HTTPException
        If the body is no such form, or is too large, or there is no room for it, or its sender stalls.
    """
    stream = request.stream()
    try:
        kind, options = parse_options_header(request.headers.get("content-type"))
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not 1 <= len(boundary) <= 200:
            raise HTTPException(415, "A submission is a form (multipart/form-data) with the fields player and file.")
        _check_length(request, storage, limit)
        form = _Form(boundary, storage, limit, check)
    except HTTPException:
        await _drain(stream)
        raise
    try:
        await _feed(stream, form)
        if not form.ended or form.incoming is None:
            raise HTTPException(400, "The form has no file, or is cut off.")
        return form.fields, form.incoming
    except BaseException as error:
        if form.incoming is not None:
            form.incoming.discard()
        if isinstance(error, HTTPException) and error.status_code != 408:
            await _drain(stream)
        raise


def _check_length(request: Request, storage: Storage, limit: int) -> None:
    text = request.headers.get("content-length", "")
    length = int(text) if text.isdecimal() and len(text) < 19 else None
    if length is not None and length > limit + 2 * _FIELDS_BYTES:
        raise _too_large(limit)
    if storage.free_bytes() < (length or limit) + RESERVE:
        raise HTTPException(507, "The grader's disk is full; tell the instructors.")


async def _feed(stream: Any, form: _Form) -> None:
    try:
        while True:
            data = await asyncio.wait_for(anext(stream), _STALLED)
            # Parsing and writing small pieces takes less time than handing them to a thread.
            form.parser.write(data)
    except StopAsyncIteration:
        return
    except TimeoutError:
        raise HTTPException(408, f"Nothing has come for {_STALLED:.0f} seconds; send it again.") from None
    except FormParserError:
        raise HTTPException(400, "The form is damaged; send it again.") from None
    except ClientDisconnect:
        raise HTTPException(400, "The connection was closed.") from None


async def _drain(stream: Any) -> None:
    left = _DRAIN
    try:
        while left > 0:
            left -= len(await asyncio.wait_for(anext(stream), 5))
    except (StopAsyncIteration, TimeoutError, ClientDisconnect, RuntimeError):
        return
