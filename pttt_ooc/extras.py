"""The extras of the package: their libraries, and the sentence that says how to install missing ones.

A command looks for its extra before it reads, compiles or computes anything.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from pttt_ooc.errors import MissingExtraError

EXTRAS = {
    "arena": ("choix", "scipy", "statsmodels"),
    "bots": ("pandas", "sklearn"),
    "cluster": ("dask_jobqueue", "distributed"),
    "deep": ("jax",),
    "environments": ("gymnasium", "pettingzoo"),
    "exact": ("highspy", "flint", "scipy"),
    "extreme": ("fissix", "pyseccomp"),
    "course": (
        *("anyio", "argon2", "fastapi", "h11", "prometheus_client", "python_multipart", "sqlalchemy", "starlette"),
        *("tzdata", "uvicorn"),
    ),
    "learners": ("scipy",),
    "openid": ("authlib", "joserfc", "requests"),
    "openspiel": ("open_spiel",),
    "scoring": ("jax", "onnxruntime", "sb3_contrib", "scipy", "stable_baselines3", "torch"),
    "smbc": ("scipy",),
}
"""The import names of the libraries that each extra of pyproject.toml installs."""
_PACKAGES = {
    "argon2": "argon2-cffi",
    "flint": "python-flint",
    "sklearn": "scikit-learn",
}  # packages not named like their modules


def check_extra(name: str, user: str) -> None:
    """Look for all libraries of an extra.

    Servers import some of them in processes that are restarted whenever they die, so all are looked for here.

    Parameters
    ----------
    name
        Name of the extra.
    user
        Subject of the error's sentence: the feature that needs the extra.

    Raises
    ------
    MissingExtraError
        If a library is missing; the message has the command that installs it.
    """
    check_modules(EXTRAS[name], user)


def check_modules(modules: Iterable[str], user: str) -> None:
    """Look for modules of several libraries at once; for errors see :func:`check_extra`."""
    missing = [module for module in modules if find_spec(module) is None]
    if missing:
        raise MissingExtraError(sentence(user, missing))


@contextmanager
def imports(user: str) -> Iterator[None]:
    """Raise a MissingExtraError, as :func:`check_extra` does, if the block imports a missing library."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module in ("", "pttt_ooc"):
            raise
        raise MissingExtraError(sentence(user, [module])) from error


@contextmanager
def extra(name: str, user: str) -> Iterator[None]:
    """Look for an extra, and guard the imports of the block: its libraries may need others."""
    check_extra(name, user)
    with imports(user):
        yield


def package(module: str) -> str:
    """The name of the package that brings a module."""
    return _PACKAGES.get(module, module.replace("_", "-"))


def sentence(user: str, missing: list[str]) -> str:
    """Say that `user` needs modules that are missing, and how to install them."""
    packages = [package(name) for name in missing]
    listed = " and ".join(filter(None, [", ".join(packages[:-1]), packages[-1]]))
    verb = "is" if len(packages) == 1 else "are"
    return f"{user} needs {listed}, which {verb} not installed; install with: {_installer()} {' '.join(packages)}"


def _installer() -> str:
    """The command that installs packages for this Python."""
    program, directory = Path(sys.executable), Path.cwd()
    path = shlex.quote(str(program.relative_to(directory) if program.is_relative_to(directory) else program))
    return f"{path} -m pip install" if find_spec("pip") else f"uv pip install --python {path}"
