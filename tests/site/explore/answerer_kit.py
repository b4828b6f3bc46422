"""Shared by the tests of the wing `explore`: its answerer in a thread of this process, and a solved small game."""

import threading
from contextlib import closing, contextmanager
from functools import cache

import pytest

from pttt_ooc.config import SolveConfig, check_section
from pttt_ooc.games.structure.strategy import uniform_strategy
from pttt_ooc.library.questions.profile import PreparedProfile
from pttt_ooc.pipeline.stages import solve
from pttt_ooc.pipeline.stages.preparation import prepare_index
from pttt_ooc.site.explore import jobs
from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.local_sources import local_sources
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.sources import FixedSources
from pttt_ooc.site.explore.strategy_answers import StrategyAnswers
from pttt_ooc.site.service.answerer import answer_all
from pttt_ooc.site.service.wire import Client, listening
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.course.server_kit import GAME
from tests.kits import quick_preparer
from tests.kits.helpers import full_index, small_engine
from tests.kits.patience import wait_until

SOLVED = {"algorithm": "pdcfr+", "target_nashconv": 1e-4, "max_iterations": 2000, "precision": "float64"}


def solve_game(data, game=GAME, **changes):
    """Solve a small game as the workflow does; returns the directory of the solution."""
    directory = prepare_index(data, game, "full")
    solve.run(game, "full", check_section(SolveConfig, {**SOLVED, **changes}), directory, 2)
    return directory


def ready(pages, address="/explore", waits="Getting these strategies ready", **options):
    """The answer to a request, once what it is waiting for is there."""

    def done():
        nonlocal answer
        answer = pages.get(address, **options)
        return waits not in answer.text

    answer = None
    wait_until(done)
    return answer


@contextmanager
def answering(directory, indices, game=GAME, **options):
    """An answerer in a thread; yields what asks it."""
    stopping = threading.Event()
    with (
        pytest.MonkeyPatch.context() as patch,
        listening() as (made, path),
        closing(StrategyAnswers(directory, game, indices, **options)) as found,
    ):
        patch.setattr(jobs, "subprocess", quick_preparer)
        thread = threading.Thread(target=answer_all, args=(made, found, stopping))
        thread.start()
        try:
            client = Client(path, 120)
            client.answering, client.path = found, path
            yield client
        finally:
            stopping.set()
            thread.join()


def explored(client, *names):
    """The application with the pages on these strategies, as `pttt web` serves them."""
    rules, sources = local_sources(list(map(str, names)), None)
    part = part_of(Explorer(rules, client, FixedSources(tuple(sources))))
    return make_application(Shell("Explored", rules.name, [part]))


@cache
def uniform_profile(game=GAME):
    """The profile of two uniform strategies, made in this process."""
    index = full_index(game)
    return PreparedProfile.prepare(*(uniform_strategy(index, p, "float64") for p in (0, 1)), small_engine(game))
