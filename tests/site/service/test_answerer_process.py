"""The process of an answerer: its limits, and what its refusals carry."""

import asyncio
import json
import os
import resource
import threading
from contextlib import contextmanager
from pathlib import Path

import pytest

from pttt_ooc.errors import PtttError
from pttt_ooc.site.service.answerer import AnswersByKind, Later
from pttt_ooc.site.service.answerer_process import MEMORY
from pttt_ooc.site.service.local_server import processes_behind
from pttt_ooc.site.service.wing import Pages
from pttt_ooc.site.service.wire import Client, RefusedError
from tests.kits.patience import PATIENCE, wait_until_gone

ROOT = Path(__file__).parents[3]


class NoneLeftError(PtttError):
    details = {"left": 0}


@contextmanager
def answerer(directory):
    """Runs in the other process."""

    def write(question):
        (Path(directory) / "file").touch()
        return {"limit": resource.getrlimit(resource.RLIMIT_DATA)[0]}

    def refuse(question):
        raise NoneLeftError("Nothing is left.")

    def fail(question):
        bytearray(MEMORY)

    happened = threading.Event()

    def later(question):
        return {"result": Later(lambda: happened.wait(PATIENCE), happened.is_set)}

    def refused_later(question):
        return {"result": Later(lambda: None, lambda: refuse(question))}

    def happen(question):
        happened.set()
        return {}

    kinds = {"write": write, "refuse": refuse, "fail": fail}
    yield AnswersByKind({**kinds, "later": later, "refused later": refused_later, "happen": happen})


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Asks an answerer in a process of its own; `asked.directory` is what it writes to."""
    directory = tmp_path_factory.mktemp("answerer")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
        call = ("tests.site.service.test_answerer_process:answerer", str(directory))
        with processes_behind([Pages("made", "Nothing", ("json:loads",), answerer=call)]) as ([child], parts):
            [[_, address]] = json.loads(parts)
            client = Client(Path(address), PATIENCE)

            def ask(what):
                return asyncio.run(client.ask(what))

            async def ask_all(*kinds):
                return await asyncio.gather(*(client.ask(what) for what in kinds))

            ask.all = lambda *kinds: asyncio.run(ask_all(*kinds))
            ask.directory = directory
            child.look_after()
            try:
                yield ask
            finally:
                child.terminate()
                wait_until_gone(child._process.pid)


def test_it_has_a_limit_of_memory_and_its_files_are_private(asked):
    assert asked("write") == {"limit": MEMORY}
    assert (asked.directory / "file").stat().st_mode & 0o777 == 0o600


def test_a_question_that_needs_too_much_memory_fails_alone(asked):
    with pytest.raises(RefusedError, match="Something went wrong"):
        asked("fail")
    assert asked("write") == {"limit": MEMORY}


def test_a_refusal_carries_details(asked):
    with pytest.raises(RefusedError, match="Nothing is left") as caught:
        asked("refuse")
    assert caught.value.details == {"left": 0}


def test_a_result_that_comes_later_holds_no_other_question(asked):
    assert asked.all("later", "happen") == [{"result": True}, {}]
    with pytest.raises(RefusedError, match="Nothing is left") as caught:
        asked("refused later")
    assert caught.value.details == {"left": 0}
