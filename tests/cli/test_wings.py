"""The list of wings: what their descriptions name exists, and importing them is cheap."""

import subprocess
import sys
from importlib import import_module
from pkgutil import resolve_name

import pytest
from pydantic import BaseModel

from pttt_ooc.cli.wings import WINGS, pages_beside
from pttt_ooc.pipeline.stages.stage_sets import StageSet

HEAVY = ("fastapi", "numba", "numpy", "pydantic", "sqlalchemy", "zarr")


@pytest.mark.parametrize("wing", WINGS, ids=lambda wing: wing.name)
def test_everything_that_a_wing_names_exists(wing):
    assert not wing.commands or callable(import_module(wing.commands).add_commands)
    assert not wing.section or issubclass(resolve_name(wing.section), BaseModel)
    assert not wing.stages or isinstance(resolve_name(wing.stages), StageSet)


def test_names_of_wings_differ():
    assert len({wing.name for wing in WINGS}) == len(WINGS)


def test_the_list_imports_nothing_heavy():
    code = f"import sys, pttt_ooc.cli.wings; print(sorted(set({HEAVY}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pages_name_functions_that_exist(tmp_path):
    assert pages_beside(None, None) == []
    [pages] = pages_beside(None, tmp_path / "made")
    assert (tmp_path / "made").is_dir() and pages.name == "arena"
    assert all(callable(resolve_name(call[0])) for call in (pages.parts, pages.answerer))
