"""Run a program that imports ``eas``, unmodified: ``python -m pttt_ooc.library.eas PROGRAM [ARGUMENTS]``."""

import runpy
import sys
from pathlib import Path

from pttt_ooc.library import eas


def main() -> None:
    """Run the program that the command line names."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit("Usage: python -m pttt_ooc.library.eas PROGRAM [ARGUMENTS]")
    program = Path(sys.argv[1])
    if not program.is_file():
        sys.exit(f"There is no program {program}.")
    eas.install()
    sys.argv = sys.argv[1:]
    sys.path[0] = str(program.resolve().parent)  # as Python does for a program
    runpy.run_path(str(program), run_name="__main__")


if __name__ == "__main__":
    main()
