"""What the commands of the tournament read."""

import pytest

from pttt_ooc.extreme import commands
from pttt_ooc.extreme.walls import ExtremeError


def test_moves_are_read_as_they_are_written():
    assert commands._opening("") == []
    assert commands._opening("0.4.5, 1.2.3,") == [(0, 4, 5), (1, 2, 3)]


@pytest.mark.parametrize("text", ["0.4", "0.4.5.6", "0,4,5", "a.b.c", "0.4.55"])
def test_what_is_no_move_is_a_sentence(text):
    with pytest.raises(ExtremeError, match=r"in --moves is no move; write BIG.ROW.COLUMN"):
        commands._opening(f"0.0.0,{text}")
