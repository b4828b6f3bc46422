"""The numbers in the tables of pages: one form a column, true minus signs, no time that looks like 0."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

_SCIENTIFIC = re.compile(r"−?\d\.\d+[\s\xa0]?×[\s\xa0]?10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_NUMBER = re.compile(r"[<>]?[−-]?[\d,]+(?:\.(\d+))?([\s\xa0]?(?:%|s|ms))?")
_HYPHEN = re.compile(r"(?<![\w.−-])-\d")


class Tables(HTMLParser):
    """The links of a page, and its tables that have a head: rows of the texts of cells."""

    def __init__(self, text):
        super().__init__()
        self.links, self.tables = [], []
        self._cell = self._row = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        facts = dict(attributes)
        if tag == "a" and facts.get("href") and "download" not in facts:
            self.links.append(facts["href"])
        elif tag == "table":
            self.tables.append([])
        elif tag == "thead":
            self.tables[-1].append("head")
        elif tag == "tr" and self.tables:
            self._row = []
            self.tables[-1].append(self._row)
        elif tag in ("td", "th") and self._row is not None:
            self._cell = []
            self._row.append(self._cell)

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self._cell = None
        elif tag == "tr":
            self._row = None

    def handle_data(self, data):
        if self._cell is not None:
            self._cell.append(data)

    def with_heads(self):
        """The tables that have a head, as lists of rows of texts, the head first."""
        found = [table for table in self.tables if "head" in table]
        return [
            [[" ".join("".join(cell).split()) for cell in row] for row in table if row != "head"] for table in found
        ]


def form_of(text):
    """The form of a number: its decimals and unit, or that it has an exponent; None if the text is no number."""
    if _SCIENTIFIC.fullmatch(text):
        return "exponent"
    found = _NUMBER.fullmatch(text)
    return found and (len(found[1] or ""), (found[2] or "").strip())


def problems(page):
    """What is wrong with the numbers in the tables of a page."""
    told = []
    for table in Tables(page).with_heads():
        head, *rows = table
        for place, name in enumerate(head):
            cells = [row[place] for row in rows if len(row) == len(head)]
            forms = {form: cell for cell in cells if (form := form_of(cell))}
            if len(forms) > 1:
                told.append(f"{name}: {' beside '.join(forms.values())}")
        told += [f"{cell}: a hyphen" for row in rows for cell in row if _HYPHEN.search(cell)]
        told += [f"{cell}: no time" for row in rows for cell in row if cell == "0.000 s"]
    return told


def walk(client, start, most=60):
    """All pages that links lead to from `start`, each kind of address once: pairs of the address and its text."""
    waiting, known, found = [start], set(), []
    while waiting and len(found) < most:
        address = waiting.pop(0)
        kind = re.sub(r"\d+", "N", address)
        if kind in known or address.startswith("/results"):
            continue
        known.add(kind)
        answer = client.get(address)
        assert answer.status_code == 200, (address, answer.status_code, re.findall("class=.lead.>(.*)<", answer.text))
        if answer.headers["content-type"].startswith("text/html"):
            found.append((address, answer.text))
            own = [urlsplit(urljoin(f"http://here{address}", link)) for link in Tables(answer.text).links]
            waiting += [f"{one.path}?{one.query}".rstrip("?") for one in own if one.netloc == "here"]
    return found


def assert_one_form_a_column(client, start, least, most=60):
    """All tables of the pages that are reached from `start` are as they should be; `least` of them have numbers."""
    pages = walk(client, start, most)
    told = {address: found for address, text in pages if (found := problems(text))}
    assert told == {}, told
    tables = [table for _, text in pages for table in Tables(text).with_heads()]
    assert len([1 for table in tables if any(form_of(cell) for row in table[1:] for cell in row)]) >= least
