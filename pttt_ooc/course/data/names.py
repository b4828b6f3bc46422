"""Names of teams: which are readable, and which are the same."""

from __future__ import annotations

import re
import unicodedata

from pttt_ooc.errors import CourseError

LONGEST = 40
NO_TEXT = re.compile(r"[^\t\n\r -\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no text for people has: controls, halves of surrogate pairs, and others that XML forbids."""

_MARKUP = set("<>&\"'/\\")
_VISIBLE = set("LMNPS")  # letters, marks, numbers, punctuation, symbols; not controls, formats, private, unassigned
# Letters, marks and symbols that show nothing: fillers, joiners, variation selectors, an empty Braille cell.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_STACKED = 3  # marks in a row; more of them cover the rows above and below
_ALIKE = {"LATIN", "GREEK", "CYRILLIC"}  # scripts that share shapes


def name_key(name: str) -> str:
    """The form for comparing names: capitals, widths and encodings of accents make no difference.

    It is Unicode's caseless compatibility match (The Unicode Standard, section 3.13, D146).
    """
    name = " ".join(name.split())
    for _ in range(2):
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", name).casefold())
    return name


def check_name(name: str) -> str:
    """The name, with accents composed, and without spaces around it.

    Raises
    ------
    CourseError
        If it cannot be a team's name.
    """
    name = unicodedata.normalize("NFC", " ".join(name.split()))
    wide = unicodedata.normalize("NFKC", name)
    refused = [_reason(character) for character in name]
    reason = next((reason for reason in refused if reason), None)
    if not name:
        reason = "it is empty"
    elif max(len(name), len(wide)) > LONGEST:
        reason = f"it has more than {LONGEST} characters"
    elif reason is None:
        reason = _reason_of_whole(name)
    if reason is not None:
        raise CourseError(f"'{readable_name(name)}' cannot be a team's name: {reason}.")
    return name


def _reason(character: str) -> str | None:
    """Why a character cannot be in a name; None if it can."""
    if character in _MARKUP:
        return f"it must not have {' '.join(sorted(_MARKUP))}"
    if character != " " and (unicodedata.category(character)[0] not in _VISIBLE or _BLANK.match(character)):
        return f"the character U+{ord(character):04X} cannot be seen, or changes how others are shown"
    return None


def _reason_of_whole(name: str) -> str | None:
    marks = "".join("m" if unicodedata.category(c)[0] == "M" else c.replace("m", ".") for c in name)
    if marks.startswith("m") or " m" in marks or "m" * (_STACKED + 1) in marks:
        return "it has accents without a letter, or too many on one"
    for word in re.findall(r"[^\W\d_]+", name):
        scripts = {unicodedata.name(c, "").partition(" ")[0] for c in word} & _ALIKE
        if len(scripts) > 1:
            return f"{ascii(word)} mixes letters of several alphabets that look alike"
    return None


def readable_name(name: str) -> str:
    """The name for a terminal, with escapes for invisible characters."""
    return "".join(c.encode("unicode_escape").decode() if c not in _MARKUP and _reason(c) else c for c in name)
