"""Pages from templates, and the filters of all templates.

Each part has its own environment, with its templates and the shell's.
``{% extends "web/base.html" %}`` gives a page the head.
``{{ static("part/file") }}`` is the address of a part's file.
"""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any
from urllib.parse import urlencode

import jinja2
from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from pttt_ooc.disk.numbers import column, decimals, duration, exploitability, size, thousands
from pttt_ooc.site.shell.forms import VISITOR, form_token, new_visitor, set_cookie
from pttt_ooc.site.shell.parts import Part
from pttt_ooc.site.shell.shell import Account, shell_of

HERE = Path(__file__).parent
ALONE = "alone"
"""The key in an address that shows one thing alone, for slides, without the head and the rest of the page."""


class _Compiled(jinja2.BytecodeCache):
    """The compiled templates, which all applications of a process share."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.code


_COMPILED = _Compiled()


def environments(parts: Sequence[Part]) -> dict[str, jinja2.Environment]:
    """The environments of all parts and of the shell, by name."""
    made = {"web": _environment({}), **{part.name: _of_part(part) for part in parts}}
    static = _static_addresses({"web": HERE, **{part.name: part.directory for part in parts}})
    for environment in made.values():
        environment.globals["static"] = static
    return made


def _static_addresses(directories: Mapping[str, Path]) -> Callable[[str], str]:
    """A function that gives ``part/file`` its address, which names the file's content: browsers keep it for a year."""

    @cache
    def address(name: str) -> str:
        part, _, file = name.partition("/")
        content = (directories[part] / "static" / file).read_bytes()
        return f"/static/{name}?v={hashlib.blake2b(content, digest_size=6).hexdigest()}"

    return address


def _of_part(part: Part) -> jinja2.Environment:
    made = _environment({part.name: part.directory / "templates"})
    made.filters.update(part.filters)
    made.globals.update(part.names)
    return made


def _environment(directories: dict[str, Path]) -> jinja2.Environment:
    folders = {"web": HERE / "templates", **directories}
    made = jinja2.Environment(
        loader=jinja2.PrefixLoader({name: jinja2.FileSystemLoader(folder) for name, folder in folders.items()}),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        auto_reload=False,
        bytecode_cache=_COMPILED,
    )
    made.filters.update(_FILTERS)
    made.globals["query"] = query
    return made


def wants_part(request: Request) -> bool:
    """Whether the page's script asks for a piece of the page; going back in history it asks for the whole page."""
    headers = request.headers
    return "hx-request" in headers and "hx-history-restore-request" not in headers


def is_piece(request: Request) -> bool:
    """Whether an address, such as ``/parts/standings``, leads to a piece of a page that renews itself."""
    return "/part" in request.scope["route"].path


def is_seen(request: Request, stamp: str) -> bool:
    """Whether an open page that renews itself shows this state; its address has the stamp that it shows as ``seen``."""
    return stamp == request.query_params.get("seen")


def out_of_date(request: Request, page: Response) -> Response:
    """The answer to a form of a page that shows an earlier state: the game as it is now, with a notice."""
    page.status_code = 409
    if wants_part(request):
        page.headers["HX-Retarget"] = "#table"  # other refusals are shown beside the board
    return page


def render_part(request: Request, template: str, **context: Any) -> str:
    """The HTML of a piece of a page without head and forms; for parameters see :func:`render`."""
    known: dict[str, jinja2.Environment] = request.app.state.environments
    return known[template.partition("/")[0]].get_template(template).render({"path": request.url.path, **context})


def render_game(
    request: Request, piece: str, account: Account | None, name: str, heading: str, **context: Any
) -> HTMLResponse:
    """A page with a title that shows a game; for the page's script only the piece that changes with the game.

    Parameters
    ----------
    piece
        The template of the piece; its part has a template ``page.html`` that extends ``web/board_page.html``.
    """
    facts = {"piece": piece, "name": name, "heading": heading, **context}
    return render(request, piece if wants_part(request) else f"{piece.partition('/')[0]}/page.html", account, **facts)


def render_renewed(
    request: Request, template: str, piece: str, account: Account | None, **context: Any
) -> HTMLResponse:
    """A page, or its piece that renews itself; one handler answers both addresses, with the same facts."""
    return render(request, piece if is_piece(request) else template, account, **context)


def render(request: Request, template: str, account: Account | None, **context: Any) -> HTMLResponse:
    """A page, or a piece of a page, which may have forms.

    Parameters
    ----------
    template
        Its part and name: ``part/page.html``.
    account
        Who is signed in.
    context
        The template's variables.  If ``stamp`` is the address's ``seen``, nothing has changed on a page that renews
        itself, and the answer is empty, with the status 204.
    """
    if "stamp" in context and is_seen(request, context["stamp"]):
        return HTMLResponse(status_code=204)
    shell, visitor = shell_of(request), new_visitor(request)
    head = {
        "title": shell.title,
        "subtitle": shell.subtitle,
        "areas": [*shell.areas_for(account), *getattr(request.state, "areas", ())],
        "home": shell.home,
        "account": account,
        "account_page": shell.accounts.page_of(account) if shell.accounts and account else None,
        "can_sign_in": shell.accounts is not None,
        "form_token": form_token(request, shell, visitor),
    }
    head |= {"notice": "", "is_part": wants_part(request), "alone": ALONE in request.query_params}
    told = [(key, value) for key, value in request.query_params.multi_items() if key != ALONE]
    head["slide"] = f"{request.url.path}?{urlencode([*told, (ALONE, 1)])}"
    head["whole_page"] = f"{request.url.path}?{urlencode(told)}" if told else request.url.path
    response = HTMLResponse(render_part(request, template, **{**head, **context}))
    if visitor:  # a visitor's forms are bound to this cookie
        set_cookie(request, response, VISITOR, visitor, None)
    return response


# ---------------------------------------------------------------------------------------------
# Filters of all templates


def utc(seconds: float | None) -> str:
    """A time for people, in UTC; the page's script converts it to local time."""
    return "" if seconds is None else f"{_date(seconds):%d %b %Y %H:%M:%S} UTC"


def iso(seconds: float | None) -> str:
    """A time for machines."""
    return "" if seconds is None else f"{_date(seconds):%Y-%m-%dT%H:%M:%SZ}"


def _date(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)


def code(sentence: str) -> Markup:
    """A sentence in which what stands between backticks is code.

    Examples
    --------
    >>> code("`pttt solve` makes <one>.")
    Markup('<code>pttt solve</code> makes &lt;one&gt;.')
    """
    wraps = (Markup("{}"), Markup("<code>{}</code>"))
    return Markup().join(wraps[nth % 2].format(part) for nth, part in enumerate(sentence.split("`")))


def curve_path(values: Sequence[float], width: int = 1000, height: int = 200) -> str:
    """The curve of values from 0 to 1 in a picture of `width` by `height`, for the macro `chart`."""
    across = width / max(1, len(values) - 1)
    points = [f"{round(index * across, 1)} {round((1 - one) * height, 1)}" for index, one in enumerate(values)]
    return "M" + "L".join(points)


def query(**keys: Any) -> str:
    """The query string of an address; empty without keys."""
    present = {key: value for key, value in keys.items() if value is not None}
    return f"?{urlencode(present)}" if present else ""


_FILTERS = {
    "column": column,
    "code": code,
    "curve_path": curve_path,
    "decimals": decimals,
    "duration": duration,
    "exploitability": exploitability,
    "thousands": thousands,
    "utc": utc,
    "iso": iso,
    "size": size,
}
