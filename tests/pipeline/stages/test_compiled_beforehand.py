"""No stage compiles a kernel when all were compiled beforehand: that would be silent, on one thread, in its time."""

import subprocess
import sys

import pytest

from pttt_ooc.cfr.sweep import gradient
from pttt_ooc.pipeline.stages.compilation import ensure_compiled
from tests.kits.patience import PATIENCE

RUN = """
import sys
from pathlib import Path
from numba.core.event import Listener, install_listener
from pttt_ooc.config import check_config
from pttt_ooc.pipeline.stages import enumerate, evaluate, export, finish, index, report, solve
class Told(Listener):
    def on_start(self, event):
        kernel = event.data["dispatcher"].py_func
        if kernel.__module__.startswith("pttt_ooc."):
            print(f"{kernel.__module__}.{kernel.__name__}", event.data["args"])
    def on_end(self, event):
        pass
config, place = check_config({"game": "mini-2x3k2-abrupt"}), Path(sys.argv[1])
settings = config.solve.model_copy(update={"max_iterations": 3, "target_nashconv": 0.0})
game = config.game, config.symmetry
with install_listener("numba:compile", Told()):
    enumerate.run(config.game, place)
    index.run(*game, place)
    solve.run(*game, settings, place)
    finish.run(*game, config.finish, place)
    evaluate.run(*game, place)
    export.run(*game, config.export, place)
    report.run(config, place)
"""


@pytest.mark.long
def test_all_kernels_of_a_run_are_compiled_beforehand(tmp_path):
    pytest.importorskip("highspy")
    if getattr(gradient.receive, "stats", None) is None:
        pytest.skip("numba is told to compile nothing")
    ensure_compiled()
    place = tmp_path / "mini-2x3k2-abrupt" / "full"
    command = [sys.executable, "-c", RUN, str(place)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert (place / "equilibrium.zarr").exists() and done.stdout == ""
