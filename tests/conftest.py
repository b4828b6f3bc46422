"""What all tests need before they start."""

import signal

# A job in the background of a script is started with Ctrl-C ignored, and hands that down to what it starts;
# tests send that signal to programs that they start, and a person's terminal does not ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
