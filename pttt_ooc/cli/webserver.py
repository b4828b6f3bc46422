"""The web process of `pttt serve` or `pttt explore` with the pages on secret goals."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from pttt_ooc.explore import localserver
from pttt_ooc.explore import webserver as graderserver
from pttt_ooc.smbc.pages.part import part_at
from pttt_ooc.web.parts import Part


def main() -> None:
    """Serve the pages of WING (``grader`` or ``explore``) and the ones on secret goals, whose answerer is at ADDRESS.

    Arguments: WING, those of the wing's own web process, ADDRESS MATCHES; matches are kept in the directory MATCHES.
    """
    wing, *own, address, matches = sys.argv[1:]

    def others() -> Sequence[Part]:
        return [part_at(Path(address), Path(matches))]

    if wing == "grader":
        data, descriptor, answerer = own
        graderserver.serve(data, descriptor, answerer, others)
    else:
        game, descriptor, answerer, sources, kept = own
        localserver.serve(game, descriptor, answerer, sources, kept, others)


if __name__ == "__main__":
    main()
