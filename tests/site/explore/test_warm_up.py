"""After the warm-up, no question compiles anything or loads compiled code."""

import subprocess
import sys

import pytest

from tests.kits.patience import PATIENCE

ASKING = """
import sys
from pttt_ooc.site.explore.strategy_answers import warm_up
from pttt_ooc.library.questions.infoset import beliefs, following, numbers
from pttt_ooc.library.questions.sampled_games import row_at
from pttt_ooc.library.questions.profile import PreparedProfile
from pttt_ooc.library.api.structures import engine_of
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.strategy import uniform_strategy
from pathlib import Path

def loaded():  # how many versions of each kernel are there
    modules = [module for name, module in sys.modules.items() if name.startswith("pttt_ooc")]
    kernels = {value for module in modules for value in vars(module).values() if hasattr(value, "overloads")}
    return {kernel.py_func.__name__: len(kernel.overloads) for kernel in kernels}

warm_up()
game = named_game("mini-2x3k2-classical")
engine = engine_of(game, sys.argv[1])
given = (uniform_strategy(engine.index, p, dtype) for p, dtype in enumerate(sys.argv[2:4]))
made = PreparedProfile.prepare(*given, engine, Path(sys.argv[4]))
profile = PreparedProfile.open(made.directory, engine.index)
before = loaded()
for player, infosets in enumerate([("|", "|0*"), ("|", "|0*", "|0.1*")]):
    for infoset in infosets:
        numbers(profile, player, infoset)
        following(profile, player, infoset)
        beliefs(profile.index, profile.strategies[1 - player], player, infoset, orders=3)
        row_at(profile.strategies[player], infoset)
print(len(before), {name: n for name, n in loaded().items() if n != before[name]})
"""


@pytest.mark.slow
@pytest.mark.long_but("full-float32")
@pytest.mark.long_but("full-float32")
@pytest.mark.parametrize(
    ("symmetry", "first", "second"), [("full", "float32", "float64"), ("none", "float64", "float32")]
)
def test_questions_compile_nothing(symmetry, first, second, tmp_path):
    command = [sys.executable, "-c", ASKING, symmetry, first, second, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    kernels, late = done.stdout.split(maxsplit=1)
    assert int(kernels) > 10 and late.strip() == "{}", done.stderr
