"""Games that people play: who sees them, what changes them, how many there may be, and how long they are kept."""

import time

import pytest
from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from pttt_ooc.errors import PlayError
from pttt_ooc.site.play.database_file import kept_file
from pttt_ooc.site.play.game_store import UNDER_WAY, GameRow, GameStore
from pttt_ooc.site.play.owners import VISITORS

DAY = 86400.0
ME, OTHER = "account:1", "account:2"


class Made(GameRow):
    __tablename__ = "made"
    version = ("moves",)
    moves: Mapped[str] = mapped_column(default="")
    kind: Mapped[int] = mapped_column(default=0)


def opened(directory, most=2, *only):
    return GameStore(kept_file(directory / "made.sqlite", "Games"), Made, "game", "games", most, *only)


@pytest.fixture
def store(in_memory):
    made = opened(in_memory)
    yield made
    made.close()


def add(store, owner, days=0.0, result=None, count=1):
    at = time.time() - days * DAY
    with store.database.writing() as session:
        before = session.query(Made).count()
        numbers = range(before, before + count)
        session.add_all(Made(id=str(n), owner=owner, started_at=at, changed_at=at, result=result) for n in numbers)


def owners(store):
    with store.database.reading() as session:
        return sorted(row.owner for row in session.query(Made))


def test_games_of_visitors_are_deleted_after_ninety_days(in_memory):
    store = opened(in_memory)
    add(store, f"{VISITORS}old", days=91)
    add(store, f"{VISITORS}back again", days=89)
    add(store, ME, days=1000)
    store.close()
    store = opened(in_memory)
    assert owners(store) == [ME, f"{VISITORS}back again"]
    store.close()


def test_the_number_of_open_games_is_limited(store):
    add(store, ME, count=UNDER_WAY - 1)
    add(store, ME, result=1, count=5)
    store.check_quota(ME)
    add(store, ME)
    store.check_quota(OTHER)
    with pytest.raises(PlayError, match="You have 20 games under way, which is the limit"):
        store.check_quota(ME)


def test_visitors_share_their_room(store):
    add(store, f"{VISITORS}a", result=0)
    store.check_quota(f"{VISITORS}b")
    add(store, f"{VISITORS}b", result=0)
    with pytest.raises(PlayError, match="There is no room for more games"):
        store.check_quota(f"{VISITORS}b")
    store.check_quota(ME)


def test_only_the_owner_sees_a_game(store):
    row = store.begin(ME, moves="1")
    assert store.row(ME, row.id).moves == "1" and [one.id for one in store.list_games(ME, finished=False)] == [row.id]
    assert store.list_games(OTHER, finished=False) == []
    for owner, id in ((OTHER, row.id), (ME, "other")):
        with pytest.raises(PlayError, match="There is no such game of yours") as caught:
            store.row(owner, id)
        assert caught.value.status == 404


def test_a_finished_game_is_shared_by_its_owner_alone(store):
    row = store.begin(ME)
    with pytest.raises(PlayError, match="not over"):
        store.share(ME, row.id, True)
    store.change(row, result=1)
    for act in (
        lambda: store.share(OTHER, row.id, True),
        lambda: store.find_shared(row.id),
        lambda: store.find_shared("other"),
    ):
        with pytest.raises(PlayError) as caught:
            act()
        assert caught.value.status == 404
    store.share(ME, row.id, True)
    assert store.find_shared(row.id).owner == ME
    store.share(ME, row.id, False)
    with pytest.raises(PlayError, match="not valid any more"):
        store.find_shared(row.id)


def test_games_with_hints_are_in_no_record(store):
    store.change(store.begin(ME, helped=True), result=1)
    store.change(store.begin(ME), result=-1)
    assert [tuple(row) for row in store.count_games(ME, Made.result)] == [(-1, 1)]
    assert len(store.list_games(ME, finished=True)) == 2


def test_a_database_of_a_former_version_gets_what_it_lacks(in_memory):
    store = opened(in_memory)
    row = store.begin(ME)
    with store.database.writing() as session:
        for column in ("shared", "helped"):
            session.execute(text(f"ALTER TABLE made DROP COLUMN {column}"))
    store.close()
    store = opened(in_memory)
    store.change(store.row(ME, row.id), result=1)
    store.share(ME, row.id, True)
    assert store.find_shared(row.id).helped is False
    store.close()


def test_of_two_moves_at_the_same_moment_one_counts(store):
    row = store.begin(ME)
    again = store.row(ME, row.id)
    store.change(row, moves="1")
    with pytest.raises(PlayError, match="done already"):
        store.change(again, moves="2")
    assert store.row(ME, row.id).moves == "1"


def test_a_game_that_is_over_does_not_change(store):
    row = store.begin(ME)
    store.change(row, result=-1)
    with pytest.raises(PlayError, match="done already"):
        store.change(row, result=1)
    assert store.row(ME, row.id).result == -1


def test_games_are_listed_the_latest_first_and_counted_when_they_are_over(store):
    for days, result in ((3, 1), (1, 1), (2, -1), (0, None)):
        add(store, ME, days=days, result=result)
    assert [row.id for row in store.list_games(ME, finished=True)] == ["1", "2", "0"]
    assert [row.id for row in store.list_games(ME, finished=True, most=1)] == ["1"]
    assert sorted(map(tuple, store.count_games(ME, Made.kind, Made.result))) == [(0, -1, 1), (0, 1, 2)]
    assert store.count_games(OTHER, Made.result) == []


def test_games_of_another_kind_in_the_same_file_are_not_seen(in_memory):
    store = opened(in_memory, 2, Made.kind == 1)
    other, mine = store.begin(ME, kind=0, result=1), store.begin(ME, kind=1, result=1)
    assert [row.id for row in store.list_games(ME, finished=True)] == [mine.id]
    assert [tuple(row) for row in store.count_games(ME, Made.result)] == [(1, 1)]
    with pytest.raises(PlayError):
        store.row(ME, other.id)
    store.close()
