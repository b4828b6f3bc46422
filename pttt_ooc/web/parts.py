"""Parts that plug into the application."""

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
    """An error, as people and programs see it."""

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)


def state_of(name: str) -> Any:
    """A dependency of handlers that gives the state of a part: ``Annotated[Kind, state_of("name")]``."""

    async def state(request: Request) -> Any:  # asynchronous, so that it takes no thread
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
        Its state in ``request.app.state``, its templates (``name/page.html``) and its files (``/static/name/``) have
        the same name.
    directory
        Where the folders ``templates`` and ``static`` are.
    routers
        Its addresses.  Below ``/api`` all answers are JSON, errors included.
    links
        Its entries of the navigation.  The first part's first entry is the application's home.
    state
        The state of its handlers.
    filters, names
        Its templates' own filters and global names.
    caught, explain
        `explain` turns a PtttError, or an exception of the classes `caught`, into a refusal; or returns None.
    collectors
        Its metrics for Prometheus.
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
