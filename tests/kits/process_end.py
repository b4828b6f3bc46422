"""The end of a forked process whose parent has imported much: to free all of it would take most of a second."""

import atexit
import os
import sys
import threading


def end_after(work):
    """Do the work of a process, and end as the interpreter does, but for freeing all objects one by one."""
    code = 0
    try:
        work()
    except SystemExit as ended:
        code = ended.code
        if not isinstance(code, int | None):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code or 0)
