"""Whatever is uploaded gets a verdict: strategies in all their forms are accepted, nothing else is."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.course.strategies.assessor import Refusal, note_on, read_strategy
from pttt_ooc.pipeline.files.infosets import default_rows
from tests.course import malformed
from tests.course.server_kit import GAME, as_strategy, npy_bytes, random_tensor, uniform_tensor, zip_bytes
from tests.kits.helpers import full_index
from tests.kits.patience import PATIENCE

BY_HAND = {what: (data, note) for what, data, note in malformed.by_hand()}


def read(tmp_path, data, player=0, on_progress=lambda share: None):
    file = tmp_path / "upload"
    file.write_bytes(data)
    index = full_index(GAME)
    return read_strategy(file, index, player, default_rows(index, player), tmp_path, on_progress)


def test_there_are_enough_of_them():
    assert len(BY_HAND) >= 200


@pytest.mark.parametrize("what", BY_HAND)
def test_what_is_no_strategy_is_refused_with_its_note(tmp_path, what):
    data, note = BY_HAND[what]
    with pytest.raises(Refusal) as refused:
        read(tmp_path, data)
    said = refused.value.note
    assert said and "\n" not in said and len(said) <= 500
    if isinstance(note, tuple):
        assert "infoset '|" in said and all(part in said for part in note), said
    elif note in (malformed.SHAPE, malformed.DTYPE):
        assert said.startswith(note)
    elif note is not None:
        assert said == note


def test_the_note_on_the_shape_is_the_courses(tmp_path):
    with pytest.raises(Refusal) as refused:
        read(tmp_path, zip_bytes(uniform_tensor(1)))
    assert refused.value.note == "Invalid tensor shape: found (107, 6), expected (189, 6)"
    assert refused.value.detail == "This is a file of player 1, not of player 0."
    with pytest.raises(Refusal) as refused:
        read(tmp_path, zip_bytes(uniform_tensor(0)[1:]))
    assert refused.value.note == "Invalid tensor shape: found (188, 6), expected (189, 6)" and not refused.value.detail


def refused_or_the_same(tmp_path, data, expected):
    """A change may have hit a byte that has no meaning: then what is read must be the strategy itself."""
    try:
        found = read(tmp_path, data)
    except Refusal as refusal:
        assert refusal.note
        return True
    assert np.array_equal(found.probabilities, expected)
    return False


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fuzzed_files_are_refused_or_read_as_they_were(tmp_path):
    expected = as_strategy(0, random_tensor(0, 2)).probabilities
    refused = sum(refused_or_the_same(tmp_path, data, expected) for _, data in malformed.fuzzed(500))
    assert refused > 350


MAC = ("__MACOSX/", "__MACOSX/._mine.npy", ".DS_Store")


@pytest.mark.parametrize(
    "before, after, told",
    [
        ((), ("__MACOSX/._mine.npy",), "__MACOSX/._mine.npy"),
        ((".DS_Store",), (), ".DS_Store"),
        (("mine/",), ("mine/Thumbs.db", "mine/desktop.ini"), "mine/Thumbs.db, mine/desktop.ini"),
        (("mine/", "mine/.DS_Store"), MAC, "mine/.DS_Store, __MACOSX/._mine.npy, .DS_Store"),
        (("Desktop.ini", "THUMBS.DB"), MAC, "Desktop.ini, THUMBS.DB, __MACOSX/._mine.npy and 1 more"),
        (("mine/",), (), ""),
        ((), (), ""),
    ],
)
def test_what_finder_and_windows_put_beside_the_file_is_passed_over(tmp_path, before, after, told):
    tensor = random_tensor(0, 4)
    members = [*((name, b"x") for name in before), ("mine/mine.npy", npy_bytes(tensor)), *((n, b"x") for n in after)]
    data = malformed.several(*((name, b"" if name.endswith("/") else content) for name, content in members))
    assert np.array_equal(read(tmp_path, data).probabilities, as_strategy(0, tensor).probabilities)
    assert note_on(tmp_path / "upload") == (f"Passed over in the zip: {told}." if told else "")


def test_the_header_of_version_3_is_read(tmp_path):
    """numpy writes it for arrays whose fields have names that are not Latin."""
    tensor = random_tensor(0, 4)
    content = malformed.described(version=(3, 0)) + tensor.tobytes()
    assert np.array_equal(read(tmp_path, zip_bytes(content)).probabilities, as_strategy(0, tensor).probabilities)
    named = io.BytesIO()
    with pytest.warns(UserWarning, match="format 3.0"):
        np.save(named, np.zeros(3, [("\u0436", float)]))
    with pytest.raises(Refusal, match="Invalid"):
        read(tmp_path, zip_bytes(named.getvalue()))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f2", ">f4", ">f8"])
@pytest.mark.parametrize("player", [0, 1])
def test_strategies_in_all_forms_are_read(tmp_path, player, dtype, order):
    tensor = np.asarray(random_tensor(player, 3), dtype=dtype, order=order)
    found = read(tmp_path, zip_bytes(tensor), player)
    expected = as_strategy(player, np.ascontiguousarray(tensor, dtype[1:])).probabilities
    assert np.array_equal(found.probabilities, expected)
    assert np.abs(found.probabilities - as_strategy(player, random_tensor(player, 3)).probabilities).max() < 1e-3


@pytest.mark.parametrize("name", ["pttt_pl0.npy", "x.npy", "deep/in/a.npy", "../../x.npy", "/etc/x.npy", "ü.npy"])
def test_the_name_in_the_zip_names_nothing(tmp_path, name):
    before = sorted(p.name for p in tmp_path.iterdir())
    read(tmp_path, zip_bytes(uniform_tensor(0), name))
    assert sorted(p.name for p in tmp_path.iterdir()) == [*before, "upload"]
    assert not Path("/etc/x.npy").exists()


def test_stored_streamed_and_commented_zips_are_read(tmp_path):
    import io
    import zipfile

    read(tmp_path, zip_bytes(uniform_tensor(0), method=zipfile.ZIP_STORED))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"the best of three"
        with archive.open("a.npy", "w", force_zip64=True) as f:
            f.write(npy_bytes(uniform_tensor(0)))
    read(tmp_path, out.getvalue())

    class Pipe(io.RawIOBase):
        """Sizes come after the data, as no one can go back to write them before."""

        def __init__(self):
            self.data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data)
            return len(data)

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", npy_bytes(uniform_tensor(0)))
    read(tmp_path, pipe.data)


def test_a_missing_file_is_not_the_files_fault(tmp_path):
    index = full_index(GAME)
    with pytest.raises(OSError):
        read_strategy(tmp_path / "gone", index, 0, default_rows(index, 0), tmp_path)


def test_progress_can_stop_the_reading(tmp_path):
    def stop(share):
        raise InterruptedError

    for order in "CF":
        with pytest.raises(InterruptedError):
            read(tmp_path, zip_bytes(np.asarray(uniform_tensor(0), order=order)), on_progress=stop)


@pytest.mark.slow
def test_bombs_take_neither_memory_nor_time(tmp_path):
    """In a process whose data may grow by 64 MB while it reads what would be 200 MB and more."""
    files = []
    for n, (_, data, _) in enumerate(list(malformed.bombs()) + [("many", BY_HAND["very many"][0], None)]):
        files.append(tmp_path / f"{n}.zip")
        files[-1].write_bytes(data)
    script = f"""
import resource, sys
from pathlib import Path
from tests.kits.helpers import full_index
from pttt_ooc.course.strategies.assessor import Refusal, note_on, read_strategy
from pttt_ooc.pipeline.files.infosets import default_rows
from tests.course.server_kit import uniform_tensor, zip_bytes
from tests.kits.patience import PATIENCE
index = full_index({GAME!r})
rows = default_rows(index, 0)
good = Path(sys.argv[1]).parent / "good.zip"
good.write_bytes(zip_bytes(uniform_tensor(0)))
read_strategy(good, index, 0, rows, good.parent)  # compiles
data = next(line for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, ((int(data.split()[1]) << 10) + (64 << 20),) * 2)
for name in sys.argv[1:]:
    try:
        read_strategy(Path(name), index, 0, rows, good.parent)
    except Refusal as refusal:
        print(refusal.note)
"""
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, files)],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={"PYTHONPATH": str(root), "PATH": "", "NUMBA_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(files)


@pytest.mark.long
def test_all_of_them_sent_to_a_course_get_their_verdicts(lab):
    """None is accepted, none stops the worker, and a good file is judged as ever afterwards."""
    token = lab.team("Vandals")
    for what, (data, note) in [*BY_HAND.items()][::4]:
        told = lab.verdict(token, 0, data)
        assert told["status"] == "Rejected" and told["exploitability"] is None, what
        assert told["note"] and told["note"] != "The server could not judge this file", (what, told)
        assert note is None or isinstance(note, tuple) or told["note"].startswith(note), what
    for number in range(1, len(BY_HAND) // 4, 10):
        assert lab.client.get(f"/submissions/{number}").status_code == 200
    assert lab.verdict(token, 0, zip_bytes(random_tensor(0, 1)))["status"] == "Accepted"
    assert not list(lab.storage.incoming.iterdir())


def test_notes_hold_nothing_that_a_page_or_database_cannot(tmp_path):
    refusal = Refusal("a\0b\u202ec", "\ud800\n")
    assert (refusal.note, refusal.detail) == ("a?b?c", "??")
