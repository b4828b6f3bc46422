"""Shared by the tests of arrays that are moved between memory and disk."""

import pytest

from pttt_ooc.disk.piece_buffers import pieces_of
from pttt_ooc.disk.store import scratch_array


def needs_carried_pieces(directory):
    """Skip the test where pieces of the arrays in a directory cannot be carried."""
    if not list(pieces_of(scratch_array(directory, "probe", 1 << 20, "u1"))):
        pytest.skip("no direct reads in the directory for temporary files")
