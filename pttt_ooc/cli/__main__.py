"""The command ``pttt``, which ``python -m pttt_ooc.cli`` is as well."""

import signal


def main() -> None:
    """Run the command line; an interrupt while its modules are imported ends it without a word."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # and not ignored, as under nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from pttt_ooc.cli import commands

    signal.signal(signal.SIGINT, handler)
    commands.main()


if __name__ == "__main__":
    main()
