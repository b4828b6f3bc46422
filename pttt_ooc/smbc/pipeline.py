"""The wing's stages in the workflow: what they are made of, what is asked for, and what of it is there.

The Snakefile imports this module, so it imports nothing that takes long.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pttt_ooc.extras import check_extra
from pttt_ooc.smbc.settings import SmbcConfig
from pttt_ooc.stages.common import Facts, check_writable, forget_future, forget_lost
from pttt_ooc.stages.described import set_aside_others
from pttt_ooc.stages.provenance import module_digest

MODULES = {
    "solve": "smbc/solve",
    "findings": "smbc/stages/finding",
    "equilibria": "smbc/stages/bounding",
    "report": "smbc/stages/reporting",
}
"""The stages in their order, each with its module."""

_FOUND = ("compared", "compared_iterations")
_SHOWN = ("all_equilibria",)


def sources(stage: str) -> str:
    """The digest of all that a stage of the wing is made of."""
    return module_digest(MODULES[stage])


def asked(config: SmbcConfig) -> dict[str, Facts]:
    """For each stage, the part of the configuration that its manifest must contain."""
    return {
        "solve": {"settings": _dump(config, exclude={*_FOUND, *_SHOWN})},
        "findings": {"settings": _dump(config, include=set(_FOUND))},
        **({"equilibria": {}} if config.all_equilibria else {}),
        "report": {"settings": _dump(config, include=set(_SHOWN))},
    }


def _dump(config: SmbcConfig, **which: Any) -> Facts:
    return config.model_dump(mode="json", **which)


def prepare(directory: Path, config: SmbcConfig, is_main_process: bool) -> list[str]:
    """Delete or set aside the manifests whose stages have to run again; a sentence for each that is set aside.

    Raises
    ------
    PtttError
        If the directory cannot be written to, or the configuration does not allow a solve.
    """
    if config.all_equilibria:
        check_extra("smbc", "smbc.all_equilibria")
    check_writable(directory)
    forget_lost(directory, list(MODULES))
    found = set_aside_others(directory, asked(config), sources) if is_main_process else []
    forget_future(directory)
    return found
