"""``python -m pttt_ooc.cli``: the command ``pttt``."""

from pttt_ooc.cli.commands import main

main()
