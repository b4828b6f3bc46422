"""Rendering of the pages of reports: templates, filters and style.

Jinja is imported on use, so that commands start quickly.
"""

from __future__ import annotations

from typing import Any

from pttt_ooc.disk.numbers import decimals, duration, exploitability, fraction, gap, interval, percent, thousands
from pttt_ooc.pipeline.show.pictures import PALETTE

FILTERS = {
    "decimals": decimals,
    "duration": duration,
    "exploitability": exploitability,
    "fraction": fraction,
    "percent": percent,
    "gap": gap,
    "interval": interval,
    "thousands": thousands,
}


def render_page(template: str, room: str = "pipeline.show", **context: Any) -> str:
    """A rendered page; the same context gives the same text.

    Parameters
    ----------
    template
        The name of a template in the folder ``templates`` of a room; it can include templates of ``pipeline.show``.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    rooms = dict.fromkeys((room, "pipeline.show"))
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(f"pttt_ooc.{name}") for name in rooms]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= FILTERS
    return environment.get_template(template).render(**{"palette": PALETTE, **context})
