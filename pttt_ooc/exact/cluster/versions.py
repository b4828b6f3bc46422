"""Whether all processes have the same program: otherwise their results need not have the same bits."""

from __future__ import annotations

import sys
from functools import cache

import numba
import numpy as np

import pttt_ooc
from pttt_ooc.imports import module_digest

_MODULES = ("exact/cluster/subtree_worker", "exact/double_oracle/response_search")


@cache
def program_version() -> str:
    """The versions of the package, of the code of the search, and of what compiles it; the processor may be another."""
    digest = "".join(module_digest(module)[:6] for module in _MODULES)
    python = ".".join(map(str, sys.version_info[:2]))
    return f"{pttt_ooc.__version__} ({digest}), Python {python}, numba {numba.__version__}, numpy {np.__version__}"
