"""Tables for other programs and for notebooks."""

import xml.etree.ElementTree as ElementTree

from pttt_ooc.show.tables import csv_text, html_table


def test_csv_has_a_line_of_names():
    assert csv_text([{"a": 1, "b": "x,y"}, {"a": 2, "b": None}]) == 'a,b\n1,"x,y"\n2,\n'


def test_html_has_a_caption_headings_and_rows():
    table = ElementTree.fromstring(html_table("Both", [("first", 1), ("second", 2.5)], ("name", "number")))
    assert table.tag == "table" and table.findtext("caption") == "Both"
    assert [[cell.text for cell in row] for row in table.iter("tr")] == [
        ["name", "number"],
        ["first", "1"],
        ["second", "2.5"],
    ]
    assert [row[0].tag for row in table.iter("tr")] == ["th"] * 3
    assert len(list(ElementTree.fromstring(html_table("None", [("only", 1)])).iter("tr"))) == 1


def test_html_is_escaped():
    evil = "<script>&\"'"
    text = html_table(evil, [(evil, evil)], (evil, evil))
    assert "<script>" not in text
    assert [part for part in ElementTree.fromstring(text).itertext() if part.strip()] == [evil] * 5
