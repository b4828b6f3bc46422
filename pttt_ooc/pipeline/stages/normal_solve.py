"""The normal form of the settings of a solve; a module of its own, because it depends on the update rules."""

from __future__ import annotations

from dataclasses import asdict

from pttt_ooc.cfr.solving.regret import RULES, unread_keys
from pttt_ooc.config import SolveConfig
from pttt_ooc.pipeline.stages.normal_form import left_out


def normal_solve(settings: SolveConfig) -> SolveConfig:
    """The normal form of the settings of a solve."""
    defaults = asdict(RULES[settings.algorithm].defaults)
    usual = {name for name, value in defaults.items() if getattr(settings, name) == value}
    unused = set() if settings.snapshot_every else {"snapshots_mb"}
    return left_out(settings, unread_keys(settings.algorithm) | usual | unused)
