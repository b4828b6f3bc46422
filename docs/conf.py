"""Sphinx makes a website of these pages (`make docs`).

The pages are plain Markdown, which can also be read as it is.  Pages that only the website has are in `site/`.
"""

import html.parser
import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util import logging

import pttt_ooc

sys.path.insert(0, str(Path(__file__).parent / "make"))

project = "pttt-ooc"
author = "The pttt-ooc developers"
copyright = author  # noqa: A001
version = release = pttt_ooc.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["make", "paper", "pictures"]
highlight_language = "text"
default_role = "literal"  # docstrings set names of parameters in single backticks

myst_heading_anchors = 3  # links to headings as on code hosts

napoleon_google_docstring = False
napoleon_attr_annotations = False  # types are in the signatures
napoleon_custom_sections = [("Attributes", "Parameters")]  # of dataclasses: what they are made from
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
# There is no page for types in signatures, or for internal modules that docstrings mention.
nitpick_ignore_regex = [("py:(class|obj|data|exc)", ".*"), ("py:.*", r"pttt_ooc\..*\..*"), ("py:mod", r"pttt_ooc\..*")]

html_theme = "furo"
pygments_dark_style = "a11y-high-contrast-dark"  # as furo's light one
html_title = f"pttt-ooc {version}"
html_favicon = "../pttt_ooc/site/shell/static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#1d5f9e", "color-brand-content": "#1d5f9e"},
    "dark_css_variables": {"color-brand-primary": "#7db8ea", "color-brand-content": "#7db8ea"},
}

CONTENTS = {
    "Start": ["start", "students", "course"],
    "Guides": ["workflow", "commands", "library", "score", "exact"],
    "Other games": ["smbc", "arena", "extreme"],
    "Reference": ["files", "method", "glossary", "site/api", "site/architecture", "site/changelog"],
}
"""The website's menu: one screen.  The notebook, `lab/`, has a list of its own."""


def add_contents(app: Sphinx, page: str, source: list[str]) -> None:
    """Add the table of contents to the start page; in its file, code hosts would show it as code."""
    if page == "index":
        for caption, pages in CONTENTS.items():
            source[0] += "\n\n```{toctree}\n" + f":hidden:\n:caption: {caption}\n\n" + "\n".join(pages) + "\n```\n"


def add_boards(app: Sphinx, page: str, source: list[str]) -> None:
    """Put the boards of the proven equilibria where the start page says ``<!-- boards -->``."""
    if page == "index":
        app.env.note_dependency("make/front_board.py")
        source[0] = source[0].replace("<!-- boards -->", import_module("front_board").front_board())


def add_names(app: Sphinx, page: str, source: list[str]) -> None:
    """Add all public names of the package to the page on the API: functions first, then classes, then the rest."""
    if page != "site/api":
        return
    found: dict[str, list[str]] = {"Functions": [], "Classes": [], "Errors": [], "Data": []}
    for name in pttt_ooc.__all__:
        value = getattr(pttt_ooc, name)
        if inspect.isclass(value) and issubclass(value, Exception):
            found["Errors"].append(f".. autoexception:: pttt_ooc.{name}")
        elif inspect.isclass(value):
            found["Classes"].append(f".. autoclass:: pttt_ooc.{name}\n   :members:")
        elif callable(value):
            found["Functions"].append(f".. autofunction:: pttt_ooc.{name}")
        else:
            # Its docstring is a string below it in the module that defines it.
            modules = {m: module for m, module in sys.modules.items() if m.startswith("pttt_ooc.")}
            home = next(m for m, module in modules.items() if name in getattr(module, "__annotations__", {}))
            found["Data"].append(f".. autodata:: {home}.{name}\n   :no-value:")
    for heading, directives in found.items():
        if directives:
            source[0] += f"\n\n## {heading}\n\n```{{eval-rst}}\n" + "\n\n".join(directives) + "\n```\n"


def shorten(app: Sphinx, what: str, name: str, thing: object, options: object, given: str | None, returned: str | None):
    """Shorten the types of arrays in signatures, which only the type checker needs in full."""
    array = re.compile(r"~numpy.ndarray\[tuple\[~typing.Any, \.\.\.\], ~numpy.dtype\[~?[\w.]+(\[~typing.Any\])?\]\]")
    return tuple(text and array.sub("~numpy.ndarray", text) for text in (given, returned))


def make_pages(app: Sphinx, failure: Exception | None) -> None:
    """Add the pages that also work from a file, `pages/` of the website."""
    if failure is None and app.builder.name == "html":
        import_module("pages").make(Path(app.outdir) / "pages", home="../index.html")


class Links(html.parser.HTMLParser):
    """The links of a page of the website, and the places in it that a link can name."""

    def __init__(self, file: Path):
        super().__init__()
        self.targets: set[str] = set()
        self.places: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids and links."""
        self.targets.update(value for name, value in attrs if name in ("href", "src") and value)
        self.places.update(value for name, value in attrs if name in ("id", "name") and value)


def check_links(app: Sphinx, failure: Exception | None) -> None:
    """Raise an error if a link within the website leads to a missing file, or to a missing place in a file."""
    if failure or app.builder.name != "html":
        return
    root = Path(app.outdir).resolve()
    pages = {file: Links(file) for file in root.rglob("*.html")}
    broken = []
    for file, links in pages.items():
        for link in links.targets:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            place = "" if parts.fragment.startswith("/") else unquote(parts.fragment)  # what a script reads is no place
            if not target.is_file() or (place and target in pages and place not in pages[target].places):
                broken.append(f"{file.relative_to(root)}: {link}")
    if broken:
        raise SphinxError("Links of the website that lead nowhere: " + "; ".join(sorted(broken)))
    logging.getLogger(__name__).info("All links within %d pages lead somewhere.", len(pages))


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", add_contents)
    app.connect("source-read", add_boards)
    app.connect("source-read", add_names)
    app.connect("autodoc-process-signature", shorten)
    app.connect("build-finished", make_pages)
    app.connect("build-finished", check_links)
