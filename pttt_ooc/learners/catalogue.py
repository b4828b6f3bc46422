"""The algorithms by name, and their settings."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from pttt_ooc.config import check_section
from pttt_ooc.errors import ConfigError, did_you_mean
from pttt_ooc.learners.learner import Learner, Settings

ALGORITHMS = {
    "xfp": ("exact.fictitious", "FictitiousPlay"),
    "mmd-dilated": ("exact.mirror", "DilatedMirror"),
    "mmd-annealed": ("exact.mirror", "AnnealedMirror"),
    "mmd-magnet": ("exact.mirror", "MagnetMirror"),
    "r-nad": ("exact.regularised", "RegularisedDynamics"),
    "psro": ("exact.oracle", "PolicySpaceOracles"),
    "sequence-oracle": ("exact.sequence_oracle", "SequenceFormOracle"),
}
"""Name: module in this room, class."""


def learner_class(algorithm: str) -> type[Learner[Any]]:
    """The class of an algorithm.

    Raises
    ------
    ConfigError
        If there is no such algorithm.
    """
    if algorithm not in ALGORITHMS:
        guess = did_you_mean(algorithm, ALGORITHMS) or f"; choose one of {', '.join(ALGORITHMS)}"
        raise ConfigError(f"There is no learner {algorithm!r}{guess}.")
    module, name = ALGORITHMS[algorithm]
    found: type[Learner[Any]] = getattr(import_module(f"pttt_ooc.learners.{module}"), name)
    return found


def module_of(algorithm: str) -> str:
    """The module of an algorithm, as :mod:`pttt_ooc.stages.provenance` names modules."""
    return f"learners/{ALGORITHMS[algorithm][0].replace('.', '/')}"


def checked_settings(algorithm: str, settings: Mapping[str, Any], source: str = "The settings") -> Settings:
    """The settings of an algorithm; a ConfigError if a key or value is refused."""
    return check_section(learner_class(algorithm).settings_model, settings, source)
