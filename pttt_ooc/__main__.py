"""The command ``pttt``, as ``python -m pttt_ooc``."""

from pttt_ooc.cli.__main__ import main

if __name__ == "__main__":
    main()
