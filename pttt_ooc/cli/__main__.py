"""The command ``pttt``, also as ``python -m pttt_ooc.cli``."""

import signal


def main() -> None:
    """Run the command line; an interrupt during imports ends it silently."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # and not ignored, as under nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pttt_ooc.cli import commands

    signal.signal(signal.SIGINT, handler)
    commands.main()


if __name__ == "__main__":
    main()
