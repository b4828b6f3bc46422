"""What plugs into the application."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Request
from prometheus_client.registry import Collector


@dataclass(frozen=True)
class Link:
    """An entry of the navigation."""

    target: str
    label: str


@dataclass(frozen=True)
class Refusal:
    """What a person or a program is told in place of an answer."""

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)


def state_of(name: str) -> Any:
    """What handlers depend on to get the state of a part: ``Annotated[Kind, state_of("name")]``."""

    async def state(request: Request) -> Any:  # no thread is taken for it
        return getattr(request.app.state, name)

    return Depends(state)


def _nothing(error: Exception) -> None:
    return None


@dataclass(frozen=True)
class Part:
    """One part of the application.

    Attributes
    ----------
    name
        Also of its state in ``request.app.state``, the prefix of its templates (``name/page.html``), and the folder of
        its files (``/static/name/``).
    directory
        Where the folders ``templates`` and ``static`` are.
    routers
        Its addresses.  What is below ``/api`` is JSON, errors included.
    links
        Its entries of the navigation.  The first entry of the first part is the application's home.
    state
        What its handlers work on.
    filters, names
        What its templates have beyond the shell's own filters.
    caught, explain
        Kinds of exceptions, beside PtttError, for which `explain` is asked.  It returns what is told, or None.
    collectors
        Its figures for Prometheus.
    largest_body
        Bytes of the largest request that it reads.
    """

    name: str
    directory: Path
    routers: Sequence[APIRouter]
    links: Sequence[Link]
    state: object = None
    filters: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    caught: tuple[type[Exception], ...] = ()
    explain: Callable[[Exception], Refusal | None] = _nothing
    collectors: Sequence[Collector] = ()
    largest_body: int = 0
