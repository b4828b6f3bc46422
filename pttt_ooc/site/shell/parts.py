"""Parts that plug into the application."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, Request
from fastapi.routing import APIRoute
from prometheus_client.registry import Collector

ORDER = ("Play", "Explore", "Watch", "Ranking")
"""The entries of an area that come first, in this order."""
MAIN = "Phantom"
"""The area whose entries are in the menu of every page."""


@dataclass(frozen=True)
class Link:
    """An entry of the navigation.

    Attributes
    ----------
    area
        The area that it belongs to; empty: it stands alone.
    also
        Beginnings of further addresses of its pages.
    but
        Beginnings of addresses below it that are not its own.
    """

    target: str
    label: str
    area: str = ""
    also: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def has(self, path: str) -> bool:
        """Whether a path is one of its pages."""
        if any(f"{path}/".startswith(f"{one}/") for one in self.but):
            return False
        return path == self.target or any(f"{path}/".startswith(f"{one.rstrip('/')}/") for one in self._beginnings)

    @property
    def _beginnings(self) -> tuple[str, ...]:
        return self.also if self.target == "/" else (self.target, *self.also)


@dataclass(frozen=True)
class Area:
    """Entries of the navigation that belong together, or one that stands alone.

    Attributes
    ----------
    name
        Its name on pages.
    links
        Its entries; the first one is where its name leads.
    """

    name: str
    links: tuple[Link, ...]

    @property
    def is_main(self) -> bool:
        """Whether its entries are shown on the pages of other areas too."""
        return self.name == MAIN

    def has(self, path: str) -> bool:
        """Whether a path is one of its pages."""
        return any(link.has(path) for link in self.links)


def areas_of(links: Sequence[Link]) -> list[Area]:
    """The areas of entries, in the order of their first entries; inside each, :data:`ORDER` comes first."""
    found: dict[str, list[Link]] = {}
    for link in links:
        found.setdefault(link.area or f"{link.target} {link.label}", []).append(link)
    return [
        Area(one[0].area or one[0].label, tuple(sorted(one, key=lambda link: _place(link.label))))
        for one in found.values()
    ]


def _place(label: str) -> int:
    return ORDER.index(label) if label in ORDER else len(ORDER)


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


def below(prefix: str, *routers: APIRouter, dependencies: tuple[Any, ...] = ()) -> APIRouter:
    """The addresses of routers below a prefix; a router can be below several.  Each handler is analysed again.

    Parameters
    ----------
    prefix
        A path such as ``/extreme``; what the routers have below ``/api`` gets ``/api/extreme``.
    dependencies
        Called before each handler.
    """
    made = APIRouter(dependencies=dependencies)
    for route in (route for one in routers for route in one.routes):
        assert isinstance(route, APIRoute)
        api = "/api" if route.path.startswith("/api/") else ""
        made.add_api_route(
            f"{api}{prefix}{route.path.removeprefix(api)}",
            route.endpoint,
            methods=sorted(route.methods or ()),
            response_model=route.response_model,
            response_class=route.response_class,
            status_code=route.status_code,
            summary=route.summary,
            include_in_schema=route.include_in_schema,
            openapi_extra=route.openapi_extra,
        )
    return made


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
