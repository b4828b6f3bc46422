"""Importing the package, all of it, changes nothing for the other code of the process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PROGRAM = """
import gc, importlib, json, locale, os, pkgutil, signal, sys, threading
import matplotlib, numba, numpy
from contextlib import suppress

import pttt_ooc


def settings():
    found = {f"environment {name}": value for name, value in os.environ.items()}
    found |= {f"signal {number!r}": str(signal.getsignal(number)) for number in signal.valid_signals()}
    found |= {f"numpy {name}": value for name, value in numpy.geterr().items()}
    found |= {f"hook {name}": str(getattr(sys, name)) for name in ("excepthook", "unraisablehook", "displayhook")}
    found |= {f"jax {name}": str(value) for name, value in jax.config.values.items()} if jax else {}
    return found | {
        "recursion": sys.getrecursionlimit(),
        "switch": sys.getswitchinterval(),
        "stack": threading.stack_size(),
        "locale": locale.setlocale(locale.LC_ALL),
        "directory": os.getcwd(),
        "path": list(sys.path),
        "numpy random": numpy.random.get_state()[1].tolist()[:9],
        "threads": threading.active_count(),
        "pictures": str(dict.items(matplotlib.rcParams)),
        "numba threads": numba.get_num_threads(),
        "garbage": gc.isenabled(),
    }


jax = None
with suppress(ModuleNotFoundError):
    import jax
with suppress(ModuleNotFoundError):
    import pettingzoo  # which itself changes the environment
before = settings()
for module in pkgutil.walk_packages(pttt_ooc.__path__, "pttt_ooc."):
    if not module.name.endswith("__main__"):
        with suppress(ModuleNotFoundError):  # of an extra
            importlib.import_module(module.name)
after = settings()
changed = {key: [before.get(key), after.get(key)] for key in {*before, *after} if before.get(key) != after.get(key)}
print(json.dumps([changed, sum(name.startswith("pttt_ooc.") for name in sys.modules)]))
"""


@pytest.mark.slow
def test_importing_every_module_changes_no_setting_of_the_process():
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    changed, imported = json.loads(done.stdout.splitlines()[-1])
    assert changed == {} and imported > 400
