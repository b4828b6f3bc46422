"""Snakemake without the seconds that its start takes: one process imports it, and forks for every run.

The scripts of a run's rules are forked too, from a process that has imported the libraries that they need.

This file is also that process's program.  It imports nothing of the package, because every run finds the copy of the
package in its own directory.
"""

import atexit
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import threading
from functools import cache
from importlib import import_module
from typing import NamedTuple

MODULES = [
    *("h5py", "numba", "numpy", "pydantic", "rich.console", "rich.progress", "yaml", "zarr"),
    *(f"snakemake.{part}" for part in ("api", "cli", "report", "report.html_reporter", "workflow")),
    # Snakemake, the Snakefile and the scripts import these amid a run.
    *("graphlib", "jinja2", "jsonschema", "nbformat", "pandas", "requests", "smart_open", "snakemake.storage", "typer"),
    *("matplotlib.backends.backend_svg", "matplotlib.figure", "rich.status", "scipy.sparse"),
]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(arguments, directory, environment):
    """Run Snakemake in a directory, as ``python -m snakemake`` would."""
    with tempfile.TemporaryDirectory() as place:
        files = [f"{place}/out", f"{place}/err"]
        request = {"arguments": arguments, "directory": str(directory), "environment": environment, "files": files}
        server = _server()
        server.stdin.write(json.dumps(request) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        texts = []
        for file in files:
            with open(file) as stream:
                texts.append(stream.read())
        return Done(code, *texts)


@cache
def _server():
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # threads do not survive a fork
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    server = subprocess.Popen([sys.executable, __file__], env=environment, start_new_session=True, **pipes)
    atexit.register(server.communicate)  # closes its standard input, which ends it; so does our death
    return server


def _serve():
    for module in MODULES:
        import_module(module)
    sys.modules["snakemake.cli"].get_argument_parser()  # looks for plugins in all packages
    os.fsync = os.fstat  # no test cuts the power, and what a killed process has written stays
    numba, numpy = sys.modules["numba"], sys.modules["numpy"]
    numba.njit(lambda numbers: numbers[0])(numpy.zeros(1))  # the compiler loads what it needs
    gc.freeze()

    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _become_snakemake(**request)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


def _become_snakemake(arguments, directory, environment, files):
    for number, file in enumerate(files, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update({**environment, "PWD": directory})
    run_script = _scripts()
    sys.path[0] = directory
    sys.argv = ["snakemake", *arguments]
    from snakemake.cli import main
    from snakemake.script import PythonScript

    PythonScript.execute_script = lambda script, file, edit=False: run_script(file)
    end_after(lambda: sys.exit(main(arguments)))


def _scripts():
    """A function that runs a script in a process of its own, forked from one that has no threads, as Snakemake has."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server = os.fork()
    if server == 0:
        ours.close()
        while file := theirs.recv(1 << 12):
            child = os.fork()
            if child == 0:
                _become_script(file.decode())
            _, status = os.waitpid(child, 0)
            theirs.send(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    theirs.close()
    atexit.register(lambda: (ours.close(), os.waitpid(server, 0)))
    one_at_a_time = threading.Lock()

    def run_script(file):
        with one_at_a_time:
            ours.send(file.encode())
            code = int(ours.recv(1 << 12))
        if code:
            raise subprocess.CalledProcessError(code, [sys.executable, file])

    return run_script


def _become_script(file):
    sys.argv = [file]
    sys.path[0] = os.path.dirname(file)
    sys.path[1:1] = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    end_after(lambda: runpy.run_path(file, run_name="__main__"))


if __name__ == "__main__":
    from process_end import end_after  # beside this file

    _serve()
