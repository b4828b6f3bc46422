"""The same on PostgreSQL, where it can be started: an own cluster behind its own socket, thrown away afterwards."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from kit import Lab, pttt, strategy_zip
from patience import PATIENCE

pytest.importorskip("psycopg")


def program(name):
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


pytestmark = pytest.mark.skipif(program("initdb") is None, reason="there is no PostgreSQL (Debian: postgresql)")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """URL of an empty cluster."""
    home = tmp_path_factory.mktemp("postgres")
    # PostgreSQL refuses to run as root; Debian's package makes a user for it.
    user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
    if user:
        for directory in (home, *home.parents[:-2]):
            os.chmod(directory, 0o755)
        shutil.chown(home, "postgres", "postgres")
    data = home / "data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": home, **user}
    subprocess.run([program("initdb"), "-D", data, "-U", "grader", "-A", "trust", "-N"], check=True, **quiet)
    # A socket in a directory of its own: no port that others might take.  Its path has to be short.
    with tempfile.TemporaryDirectory(dir="/tmp") as socket:
        os.chmod(socket, 0o777)
        options = f"-h '' -k {socket} -c fsync=off"
        start = [program("pg_ctl"), "-D", data, "-w", "-t", str(int(PATIENCE)), "-o", options, "-l", home / "log"]
        subprocess.run([*start, "start"], check=True, **quiet)
        yield f"postgresql+psycopg://grader@/postgres?host={socket}"
        subprocess.run([program("pg_ctl"), "-D", data, "-m", "immediate", "stop"], check=True, **quiet)


def test_all_of_it_on_postgresql(cluster, tmp_path):
    lite = Lab(tmp_path / "lite")
    lite.baseline()
    lite.team("Team A")
    copy = tmp_path / "copy.tar"
    assert pttt("grader", "backup", copy, "--data", lite.data).returncode == 0
    done = pttt("grader", "restore", copy, "--data", tmp_path / "post", "--database-url", cluster)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "post" / "grader.sqlite").exists()

    post = Lab(tmp_path / "post", database_url=cluster)
    assert post.client.get("/api/leaderboard").json() == lite.client.get("/api/leaderboard").json()
    token = lite.tokens["Team A"]
    for lab in (lite, post):
        for player in (0, 1):
            lab.verdict(token, player, strategy_zip(player, 1, 2.0))
            assert lab.verdict(token, player, strategy_zip(player, 2, 0.5))["status"] == "Accepted"
        lab.verdict(token, 0, b"no zip")
        assert lab.post(token, 0, b"no zip").json()["duplicate"]
    assert post.client.get("/api/matrix").json() == lite.client.get("/api/matrix").json()
    for path in ("/", "/matrix", "/submissions", "/submissions/3", "/teams/2", "/metrics", "/api/history"):
        assert post.client.get(path).status_code == 200
    assert pttt("grader", "restore", copy, "--data", tmp_path / "x", "--database-url", cluster).returncode == 1
    for arguments in (["rotate-token", "Team A"], ["remove-team", "Team A", "--yes"], ["list-teams"]):
        done = pttt("grader", *arguments, "--data", post.data)
        assert done.returncode == 0, done.stderr
    assert [r["team"] for r in post.client.get("/api/leaderboard").json()] == ["Uniform"]
    lite.close()
    post.close()
