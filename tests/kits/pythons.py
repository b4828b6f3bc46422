"""The Pythons of other versions on this machine."""

import os
import shutil
from pathlib import Path


def python_of(version):
    """The program of a version such as ``3.12``; None if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return next(iter([*sorted(pyenv.glob(f"versions/{version}.*/bin/python")), shutil.which(f"python{version}")]))
