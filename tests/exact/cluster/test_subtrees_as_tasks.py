"""Best responses by processes of Dask: the same bits as by threads, also when workers die; sentences for what fails."""

import os
import queue
import signal
import sys
import time
import types

import pytest

from pttt_ooc.cli.commands import app  # noqa: F401  (the command line, before its extra is taken away)
from pttt_ooc.disk.manifests import read_manifest
from pttt_ooc.errors import MissingExtraError, PtttError
from pttt_ooc.exact.cluster import clients, subtree_runner
from pttt_ooc.exact.cluster.clients import SLURM, open_client
from pttt_ooc.exact.double_oracle import response_search
from pttt_ooc.exact.double_oracle.oracle import DoubleOracle
from pttt_ooc.exact.double_oracle.response_search import ResponseSearch
from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.frontier import run
from pttt_ooc.pipeline.frontier.settings import FrontierConfig

pytest.importorskip("highspy")
pytest.importorskip("distributed", reason="needs distributed")

GAME = named_game("mini-2x3k3-abrupt")
MEMORY_MB = 400


@pytest.fixture(scope="session")
def client():
    with open_client(2, None) as client:
        yield client


@pytest.fixture(autouse=True)
def small_subtrees(monkeypatch):
    """Even a small game is divided into many subtrees."""
    monkeypatch.setattr(response_search, "LEAST_INFOSETS", 4)


@pytest.fixture
def threads():
    """The state at the end of a run by threads."""
    oracle = DoubleOracle(GAME)
    assert list(oracle.rounds())[-1].settled
    return oracle.state()


def assert_same(state, other):
    assert {name: part.tobytes() for name, part in state.items()} == {n: part.tobytes() for n, part in other.items()}


@pytest.mark.slow
def test_workers_find_the_same_bits_as_threads(client, threads):
    runner = subtree_runner.DaskRunner(client, GAME, MEMORY_MB)
    oracle = DoubleOracle(GAME, runner=runner)
    tasks = []
    for _ in oracle.rounds():
        tasks.append(runner.tasks)
        assert runner.sent > 0 and runner.received > 0
    assert max(tasks) > 10
    assert_same(oracle.state(), threads)


@pytest.mark.long
def test_a_run_of_the_workflow_uses_a_scheduler_and_changes_no_bit(client, tmp_path):
    for name, scheduler in (("alone", None), ("together", client.scheduler.address)):
        run.run(FrontierConfig(game=GAME.name, scheduler=scheduler), tmp_path / name)
    one, other = (read_manifest(tmp_path / name / "solve.json", "solve") for name in ("alone", "together"))
    assert one["products"]["equilibrium.zarr"]["digest"] == other["products"]["equilibrium.zarr"]["digest"]
    with pytest.raises(PtttError, match="does not answer within"):
        run.run(FrontierConfig(game=GAME.name, scheduler="tcp://127.0.0.1:1"), tmp_path / "nobody")


@pytest.mark.long
@pytest.mark.parametrize("killed", [1, 2])
def test_workers_that_die_lose_no_bit(client, threads, monkeypatch, killed):
    """One: its tasks go to the other.  Both: the plans are lost with them, and sent again."""
    oracle = DoubleOracle(GAME, runner=subtree_runner.DaskRunner(client, GAME, MEMORY_MB))
    for _ in range(6):
        oracle.round()
    put, pids = ResponseSearch.put, list(client.run(os.getpid).values())
    dead = []

    def kill_and_put(self, subtree, found):
        if not dead:
            dead.extend(pids[:killed])
            for pid in dead:
                os.kill(pid, signal.SIGKILL)
        put(self, subtree, found)

    monkeypatch.setattr(ResponseSearch, "put", kill_and_put)
    assert list(oracle.rounds())[-1].settled and len(dead) == killed
    assert_same(oracle.state(), threads)
    until = time.monotonic() + 60  # the next test finds both
    while len(client.nthreads()) < 2 and time.monotonic() < until:
        time.sleep(0.05)


@pytest.mark.slow
def test_a_worker_with_another_version_gets_a_sentence(client, monkeypatch):
    monkeypatch.setattr(subtree_runner, "program_version", lambda: "0.0")
    with pytest.raises(
        PtttError, match=r"^A worker has another program than this process: .* there, 0.0 here; install"
    ):
        subtree_runner.DaskRunner(client, GAME, MEMORY_MB)


def client_with(nthreads, run=lambda *_: None):
    """A client that has workers and can run functions, or cannot."""
    return types.SimpleNamespace(nthreads=nthreads, run=run, scheduler=types.SimpleNamespace(address="tcp://here"))


def test_a_worker_without_the_program_gets_a_sentence():
    def run(*_):
        raise ModuleNotFoundError("No module named 'pttt_ooc'")

    with pytest.raises(
        PtttError, match=r"^A worker cannot import this program \(No module named 'pttt_ooc'\); install"
    ):
        subtree_runner.DaskRunner(client_with(lambda: {"worker": 1}, run), GAME, MEMORY_MB)


def test_a_scheduler_without_workers_gets_a_sentence_and_those_that_come_later_are_waited_for():
    with pytest.raises(PtttError, match=r"^The scheduler at tcp://here has had no worker for 0 s; start some"):
        subtree_runner.DaskRunner(client_with(dict), GAME, MEMORY_MB, 0)
    nobody = [{}, {}]
    subtree_runner.DaskRunner(client_with(lambda: nobody.pop() if nobody else {"worker": 1}), GAME, MEMORY_MB)
    assert not nobody


@pytest.mark.slow
def test_what_is_sent_again_is_not_taken_for_what_was_lost(client, monkeypatch):
    """Equal plans and equal tasks have names of their own."""
    monkeypatch.setattr(client, "run", lambda *_: None)  # nothing to compile
    runner, arrived, pending = subtree_runner.DaskRunner(client, GAME, MEMORY_MB), queue.SimpleQueue(), {}
    scattered = [runner._scatter("plans") for _ in range(2)]
    assert scattered[0].key != scattered[1].key
    for _ in range(2):
        runner._submit(scattered[0], [(None, "subtree")], pending, arrived)
    assert len({future.key for future in pending}) == 2 == runner.tasks
    for _ in range(2):
        assert arrived.get().exception() is not None, "no plans, no subtree"


def test_jobs_of_slurm_have_one_thread_and_are_as_many_as_asked_for(tmp_path, monkeypatch):
    """A job's memory is the budget and what a process takes besides; one that ends is replaced."""
    told = {}

    class Jobs:
        def __init__(self, **settings):
            told.update(settings)

        def adapt(self, **numbers):
            told.update(numbers)

        __enter__, __exit__ = (lambda self: self), (lambda *_: None)

    monkeypatch.setitem(sys.modules, "dask_jobqueue", types.ModuleType("dask_jobqueue"))
    monkeypatch.setitem(sys.modules, "dask_jobqueue.slurm", types.SimpleNamespace(SLURMCluster=Jobs))
    monkeypatch.setattr(clients.shutil, "which", lambda name: f"/usr/bin/{name}")
    with clients._jobs(3, 400.5):
        pass
    memory = f"{401 + clients._BESIDES_MB}MB"
    assert (told["cores"], told["processes"], told["memory"]) == (1, 1, memory)
    assert (told["minimum"], told["maximum"]) == (3, 3)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nobody", "http://127.0.0.1:1"])
def test_a_scheduler_that_does_not_answer_gets_a_sentence(monkeypatch, address):
    monkeypatch.setattr(clients, "_ANSWER_SECONDS", 0.3)
    begin = time.monotonic()
    with pytest.raises(PtttError, match=f"^The scheduler {address} does not answer"), open_client(None, address):
        pass
    assert time.monotonic() - begin < 30


def test_the_connection_that_asks_for_a_scheduler_is_closed(monkeypatch):
    closed = []

    async def connect(address, timeout):
        return types.SimpleNamespace(abort=lambda: closed.append(address))

    monkeypatch.setattr("distributed.core.connect", connect)
    clients._knock("tcp://127.0.0.1:1")
    assert closed == ["tcp://127.0.0.1:1"]


def test_jobs_of_slurm_need_their_number_and_their_command(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(PtttError, match="^With the scheduler slurm, give a number"), open_client(None, SLURM):
        pass
    with pytest.raises(PtttError, match="^There is no command sbatch here"), open_client(2, SLURM):
        pass


def test_workers_or_a_scheduler(monkeypatch):
    with pytest.raises(PtttError, match="not both"), open_client(2, "tcp://127.0.0.1:1"):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(MissingExtraError, match="^A search by several processes needs distributed, which is not"),
        open_client(2, None),
    ):
        pass
