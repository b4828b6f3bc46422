"""The starter kit, the lists of infosets, and courses whose lists have another order."""

import gzip
import io
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from fastapi.testclient import TestClient

from pttt_ooc.course.data.models import Fact, Submission
from pttt_ooc.course.data.settings import read_settings
from pttt_ooc.course.data.storage import LISTS
from pttt_ooc.course.server.backup import read_backup, write_backup
from pttt_ooc.course.server.strategy_parts import app_of, parts_of
from pttt_ooc.course.strategies import starter_kit
from pttt_ooc.course.strategies.game_facts import check_orders, settle_orders
from pttt_ooc.errors import CourseError, InfosetFileError
from pttt_ooc.pipeline.files.infosets import default_rows, infoset_texts
from tests.course.server_kit import (
    GAME,
    Lab,
    bearer,
    make_settings,
    pttt,
    random_tensor,
    strategy_zip,
    uniform_tensor,
    zip_bytes,
)
from tests.kits.helpers import full_index
from tests.kits.patience import PATIENCE, wait_until
from tests.site.explore.answerer_kit import answering

# What a student writes who has only the course's document and the kit: without this package, and not from its texts.
STUDENT = """
import sys, zipfile
import numpy as np

squares = int(sys.argv[1])
for player in (0, 1):
    infosets = [line.strip() for line in open(f"player{player}-infosets.txt")]
    tensor = np.zeros((len(infosets), squares))
    for row, infoset in enumerate(infosets):
        assert infoset[0] == "|" and set(infoset[2::2]) <= set("*.")
        tried = [int(digit) for digit in infoset[1::2]]
        left = [square for square in range(squares) if square not in tried]
        weights = [1 + (square + sum(tried)) % 3 for square in left]
        tensor[row, left] = np.array(weights) / sum(weights)
    np.save(f"pttt_pl{player}.npy", tensor)
    with zipfile.ZipFile(f"pttt_pl{player}.zip", "w") as archive:
        archive.write(f"pttt_pl{player}.npy")
assert not any(name.startswith("pttt_ooc") for name in sys.modules)
"""


def texts(player):
    index = full_index(GAME)
    return [str(text, "ascii") for text in infoset_texts(index, player, default_rows(index, player))]


def shuffled(player, seed=1):
    """The lines of a list in another order."""
    lines = texts(player)
    return [lines[i] for i in np.random.default_rng([seed, player]).permutation(len(lines))]


def own_lists(data, seed=1):
    """Settings of a course with lists of its own: one in the course's directory, one elsewhere."""
    data.mkdir(parents=True)
    elsewhere = data.parent / "theirs.txt"
    (data / "mine.txt").write_text("\n".join(shuffled(0, seed)))
    elsewhere.write_bytes("".join(f"{line}\r\n" for line in shuffled(1, seed)).encode())
    return {"infosets_0": "mine.txt", "infosets_1": str(elsewhere)}


@pytest.fixture(params=["default", "own"])
def any_lab(request, tmp_path):
    changes = own_lists(tmp_path / "course") if request.param == "own" else {}
    made = Lab(tmp_path / "course", **changes)
    made.lines = [shuffled(p) if changes else texts(p) for p in (0, 1)]
    made.kit()
    yield made
    made.close()


@pytest.fixture(scope="module")
def client(solved, prepared):
    with answering(prepared, solved.parent.parent) as made:
        yield made


def unpacked(lab, place):
    answer = lab.client.get("/starter-kit.zip")
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        archive.extractall(place)
    return place / "starter-kit"


def run_alone(program, folder, *arguments):
    """Run a program as on a machine without this package: no path of this process is its own."""
    command = [sys.executable, "-I", program, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow_but_one
def test_a_student_without_the_package_hands_in_what_the_course_accepts(any_lab, tmp_path):
    lab, token = any_lab, any_lab.team("Newcomers")
    kit = unpacked(lab, tmp_path / "downloads")
    (kit / "mine.py").write_text(STUDENT)
    for program, uniform in (("mine.py", False), ("uniform.py", True)):
        run_alone(program, kit, 6)
        for player in (0, 1):
            told = lab.verdict(token, player, (kit / f"pttt_pl{player}.zip").read_bytes())
            assert told["status"] == "Accepted", (program, told)
            with zipfile.ZipFile(kit / "uniform" / f"pttt_pl{player}.zip") as archive:
                theirs = np.load(io.BytesIO(archive.read(f"pttt_pl{player}.npy")))
            assert np.allclose(np.load(kit / f"pttt_pl{player}.npy"), theirs, atol=1e-7) == uniform
    assert "(189, 6) for player 0 and (107, 6) for player 1" in (kit / "README.txt").read_text()


@pytest.mark.slow_but_one
def test_the_loader_reads_and_writes_strategies(any_lab, tmp_path):
    kit = unpacked(any_lab, tmp_path)
    (kit / "try.py").write_text(
        "import sys; sys.path.insert(0, '.')\n"
        "from strategies import load_infosets, load_strategy, save_strategy\n"
        "infosets, rows = load_infosets(0)\n"
        "tensor = load_strategy('uniform/pttt_pl0.zip')\n"
        "assert len(infosets) == len(tensor) and infosets[rows['|0*4.']] == '|0*4.'\n"
        "assert tensor[rows['|0*4.']].tolist() == [0, .25, .25, .25, 0, .25]\n"
        "tensor[rows['|']] = [1, 0, 0, 0, 0, 0]\n"
        "save_strategy(tensor, 0)\n"
    )
    run_alone("try.py", kit)
    token = any_lab.team("Newcomers")
    number = any_lab.submit(token, 0, (kit / "pttt_pl0.zip").read_bytes())
    any_lab.run()
    assert any_lab.client.get(f"/api/submissions/{number}").json()["status"] == "Accepted"
    with any_lab.database.reading() as session:
        assert session.get(Submission, number).opening == [1, 0, 0, 0, 0, 0]


@pytest.mark.slow_but_one
@pytest.mark.parametrize("player", [0, 1])
def test_lists_are_sent_compressed_to_those_who_take_it(any_lab, player):
    expected, path = "".join(f"{line}\n" for line in any_lab.lines[player]).encode(), f"/{LISTS[player]}"
    tags = set()
    for accepted, packed in (
        ("gzip, deflate, br", True),
        ("identity", False),
        ("gzip;q=0", False),
        ("br, GZIP;q=0.5", True),
        ("", False),
        ("*", True),
    ):
        with any_lab.client.stream("GET", path, headers={"Accept-Encoding": accepted}) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.status_code == 200 and answer.headers["vary"] == "Accept-Encoding"
        assert ("content-encoding" in answer.headers) == packed, accepted
        assert int(answer.headers["content-length"]) == len(raw)
        assert (gzip.decompress(raw) if packed else raw) == expected
        assert (len(raw) < len(expected)) == packed
        tags.add((packed, answer.headers["etag"]))
        known = {"Accept-Encoding": accepted, "If-None-Match": f'"other", W/{answer.headers["etag"]}'}
        again = any_lab.client.get(path, headers=known)
        assert again.status_code == 304 and not again.content and again.headers["etag"] == answer.headers["etag"]
        assert any_lab.client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
    assert len(tags) == 2, "a tag for each of the two forms"


def test_a_process_makes_the_kit_and_tries_again_if_it_fails(tmp_path, monkeypatch):
    lab = Lab(tmp_path / "course")
    monkeypatch.setattr(starter_kit, "PROGRAM", "no.such.program")
    maker = starter_kit.KitMaker(lab.storage, lab.settings)
    assert maker.look_after(), "it is begun"
    wait_until(lambda: maker.look_after() and maker._process is None)
    assert maker.look_after() and maker._process is None, "it waits before it tries again"
    monkeypatch.setattr(starter_kit, "PROGRAM", "this")  # a program that ends well
    maker._due = 0.0
    assert maker.look_after() and maker._process is not None
    wait_until(lambda: not maker.look_after())
    assert not maker.look_after() and maker._process is None, "it is made once"
    lab.kit()
    assert not starter_kit.KitMaker(lab.storage, lab.settings).look_after(), "there is one"
    lab.storage.kit.unlink()
    monkeypatch.undo()
    stopped = starter_kit.KitMaker(lab.storage, lab.settings)
    stopped.look_after()
    process = stopped._process
    stopped.close()
    assert process.returncode is not None
    lab.close()


@pytest.mark.slow
def test_the_program_makes_the_kit_of_a_course(tmp_path):
    lab = Lab(tmp_path / "course")
    maker = starter_kit.KitMaker(lab.storage, lab.settings)
    wait_until(lambda: not maker.look_after())
    made = lab.storage.kit.read_bytes()
    lab.storage.kit.unlink()
    lab.kit()
    assert lab.storage.kit.read_bytes() == made
    lab.close()


def test_the_kit_is_cached_and_made_again_only_if_something_has_changed(tmp_path):
    lab = Lab(tmp_path / "course")
    assert lab.client.get("/starter-kit.zip").status_code == 503
    answer = lab.client.get(f"/{LISTS[0]}")
    assert answer.status_code == 503 and "being made" in answer.text and int(answer.headers["retry-after"]) > 0
    assert "is being made" in lab.client.get("/").text and "is being made" in lab.client.get("/about").text
    lab.kit()
    first, made = lab.client.get("/starter-kit.zip"), lab.storage.kit.stat()
    assert lab.client.get("/starter-kit.zip", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
    lab.kit()
    assert lab.storage.kit.stat().st_ino == made.st_ino, "the same file"
    lab.storage.kit.write_bytes(first.content[:500])
    lab.kit()
    assert lab.client.get("/starter-kit.zip").content == first.content
    renamed = lab.settings.model_copy(update={"title": "Another course"})
    lab.settings = renamed
    lab.kit()
    assert lab.client.get("/starter-kit.zip").headers["etag"] != first.headers["etag"]
    for path in ("/", "/about"):
        page = lab.client.get(path).text
        assert "Start here" in page and 'href="/starter-kit.zip"' in page
    assert all(f'href="/{name}"' in page for name in LISTS)
    lab.close()


@pytest.mark.slow
def test_the_command_writes_the_same_kit(any_lab, tmp_path):
    file = tmp_path / "kit.zip"
    done = pttt("course", "kit", file, "--data", any_lab.data)
    assert done.returncode == 0, done.stderr
    assert file.read_bytes() == any_lab.storage.kit.read_bytes()
    assert sorted(f.name for f in tmp_path.iterdir() if "kit" in f.name) == ["kit.zip"]
    again = pttt("course", "kit", file, "--data", any_lab.data)
    assert again.returncode == 1 and "--force" in again.stderr
    none = pttt("course", "kit", tmp_path / "b.zip", "--data", tmp_path / "nowhere")
    assert none.returncode == 1 and "There is no course" in none.stderr and not (tmp_path / "b.zip").exists()


# ---------------------------------------------------------------------------------------------
# Lists in another order


def in_order(player, tensor, lines):
    """A tensor in the order of these lines."""
    row = {text: n for n, text in enumerate(texts(player))}
    return tensor[[row[line] for line in lines]]


def test_a_course_with_lists_of_its_own_judges_in_their_order(tmp_path, lab):
    own = Lab(tmp_path / "own", **own_lists(tmp_path / "own"))
    tensor = random_tensor(0, 7)
    expected = lab.verdict(lab.team("Team A"), 0, zip_bytes(tensor))
    token = own.team("Team A")
    found = own.verdict(token, 0, zip_bytes(in_order(0, tensor, shuffled(0))))
    assert found["status"] == "Accepted" and found["exploitability"] == pytest.approx(expected["exploitability"], 1e-12)
    wrong = own.verdict(token, 0, zip_bytes(tensor))
    assert wrong["status"] == "Rejected" and f"infoset '{shuffled(0)[int(wrong['note'].split()[1])]}'" in wrong["note"]
    own.baseline()
    content = own.client.get("/submissions/3/file").content
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        baseline = np.load(io.BytesIO(archive.read("pttt_pl0.npy")))
    assert np.allclose(baseline, in_order(0, uniform_tensor(0), shuffled(0)), atol=1e-7)
    own.close()


@pytest.mark.long
def test_what_looks_inside_reads_rows_in_the_courses_order(tmp_path, client, solved):
    """One file is two strategies in two orders: nothing that was computed of one of them is used for the other."""
    lines, found, keys = texts(0), [], set()
    same_squares = {}  # the file is valid in both orders
    for line in lines:
        same_squares.setdefault(frozenset(line[1::2]), []).append(line)
    reversed_lines = [same_squares[frozenset(line[1::2])].pop() for line in lines]
    for order in (lines, reversed_lines):
        data = tmp_path / str(len(found))
        data.mkdir()
        (data / "list.txt").write_text("\n".join(order))
        own = Lab(data, solution=str(solved), infosets_0="list.txt")
        own.client.close()
        own.client = TestClient(app_of(own.course, *parts_of(own.course, client)), base_url="http://course")
        with own.database.writing() as session:
            session.merge(Fact(name="value", value=[*own.settings.game_value, "as the instructors have set it"]))
        token = own.team("Team A")
        told = own.verdict(token, 0, zip_bytes(random_tensor(0, 7)))
        answer = asked(own, f"/api/submissions/{told['id']}/mistakes", bearer(token))
        assert answer["exploitability"] == pytest.approx(told["exploitability"], abs=1e-6)
        found.append({key: value for key, value in answer.items() if key != "submission"})
        with own.database.reading() as session:
            keys.add(own.assessor.key(session.get(Submission, told["id"])))
        own.close()
    assert found[0] != found[1] and len(keys) == 2


def asked(lab, path, headers):
    """An answer that is computed meanwhile."""

    def done():
        nonlocal answer
        answer = lab.client.get(path, headers=headers)
        return answer.status_code != 202

    answer = None
    wait_until(done)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_lists_cannot_change_once_strategies_follow_them(tmp_path):
    lab = Lab(tmp_path / "course")
    lab.baseline()
    settle_orders(lab.database, lab.storage, lab.settings)
    assert lab.client.get("/submissions/1").status_code == 200, "nothing has changed"
    (lab.data / "mine.txt").write_text("\n".join(shuffled(0)))
    own = lab.settings.model_copy(update={"infosets_0": "mine.txt"})
    settle_orders(lab.database, lab.storage, own)
    assert lab.client.get("/submissions/1").status_code == 404, "the baseline's files are in another order"
    assert not list(lab.storage.uploads.iterdir())
    lab.verdict(lab.team("Team A"), 1, strategy_zip(1, 1))
    settle_orders(lab.database, lab.storage, own)
    with pytest.raises(CourseError, match=r"settings\.yaml are not those that accepted strategies follow"):
        settle_orders(lab.database, lab.storage, lab.settings)
    (lab.data / "mine.txt").write_text("\n".join(shuffled(0, 2)))
    with pytest.raises(CourseError, match="put the former ones back"):
        settle_orders(lab.database, lab.storage, own)
    lab.close()


@pytest.mark.slow
def test_lists_that_are_no_lists_are_told_by_the_command(tmp_path):
    lists = own_lists(tmp_path / "course")
    settings = make_settings(tmp_path / "course", **lists)
    check_orders(tmp_path / "course", settings)
    (tmp_path / "course" / "mine.txt").write_text("0*\n")
    with pytest.raises(InfosetFileError, match="every line begins with a bar"):
        check_orders(tmp_path / "course", settings)
    (tmp_path / "course" / "mine.txt").unlink()
    done = pttt("course", "serve", "--data", tmp_path / "course", "--port", 0)
    assert done.returncode == 1 and "mine.txt: There is no such file." in done.stderr
    (tmp_path / "course" / "mine.txt").write_text("\n".join(shuffled(0)[1:]))
    done = pttt("course", "kit", tmp_path / "kit.zip", "--data", tmp_path / "course")
    assert done.returncode == 1 and "1 infoset is missing" in done.stderr and not (tmp_path / "kit.zip").exists()


def test_a_copy_has_the_lists(tmp_path):
    lab = Lab(tmp_path / "course", **own_lists(tmp_path / "course"))
    token = lab.team("Team A")
    zipped = zip_bytes(in_order(1, random_tensor(1, 3), shuffled(1)))
    assert lab.verdict(token, 1, zipped)["status"] == "Accepted"
    write_backup(lab.database, lab.storage, tmp_path / "copy.tar")
    lab.close()
    (tmp_path / "theirs.txt").unlink()
    read_backup(tmp_path / "copy.tar", tmp_path / "restored")
    settings = read_settings(tmp_path / "restored")
    for player, file in enumerate(settings.orders(tmp_path / "restored")):
        assert file.parent == tmp_path / "restored" and file.read_text().split() == shuffled(player)
