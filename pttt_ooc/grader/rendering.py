"""Templates and what all of them need."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
from fastapi import Request
from fastapi.responses import HTMLResponse

from pttt_ooc.grader import figures, security
from pttt_ooc.grader.context import grader_of
from pttt_ooc.grader.models import BASELINE, STATUSES, Team
from pttt_ooc.show.report import decimals, thousands

Shown = dict[str, Any]


def query(**keys: Any) -> str:
    """The end of an address, of the keys that are given; empty without one."""
    given = {key: value for key, value in keys.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
    auto_reload=False,
)
_templates.filters.update(
    decimals=decimals,
    thousands=thousands,
    utc=figures.utc,
    iso=figures.iso,
    size=figures.size,
    known_value=figures.known_value,
    uncertainty=figures.uncertainty,
    exploitability=figures.exploitability,
)
_templates.globals.update(
    opacity=figures.opacity, BASELINE=BASELINE, STEPS=figures.STEPS, STATUSES=list(STATUSES), query=query
)


def render_part(request: Request, template: str, team: Team | None, **shown: Any) -> str:
    """The HTML of a part that has no forms; parameters as of :func:`render`."""
    return _templates.get_template(template).render({"team": team, "path": request.url.path, **shown})


def render(request: Request, template: str, team: Team | None, **shown: Any) -> HTMLResponse:
    """A page, or a part of one.

    Parameters
    ----------
    team
        Who is signed in.
    shown
        What the template shows.
    """
    grader = grader_of(request)
    visitor = security.visitor_of(request)
    everywhere: Shown = {
        "title": grader.settings.title,
        "settings": grader.settings,
        "team": team,
        "path": request.url.path,
        "form_token": security.form_token(request, grader, visitor),
        "max_upload_bytes": grader.settings.max_upload_bytes,
    }
    response = HTMLResponse(_templates.get_template(template).render({**everywhere, **shown}))
    security.remember_visitor(request, response)
    return response
