"""What people own: how much of it there may be, and how long it is kept."""

import time

import pytest
from sqlalchemy import String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from pttt_ooc.errors import PlayError
from pttt_ooc.play.database import Kept
from pttt_ooc.play.database_file import kept_file
from pttt_ooc.play.owners import VISITORS
from pttt_ooc.play.quotas import UNDER_WAY, Owned, check_room, forget

DAY = 86400.0


class Base(DeclarativeBase):
    pass


class Row(Owned, Base):
    __tablename__ = "rows"
    over: Mapped[str] = mapped_column(String(3), default="no")


@pytest.fixture
def kept(in_memory):
    made = Kept(kept_file(in_memory / "rows.sqlite", "Rows"), "rows", Base.metadata)
    yield made
    made.close()


def add(kept, owner, days=0.0, over="no", count=1):
    at = time.time() - days * DAY
    with kept.writing() as session:
        before = session.query(Row).count()
        numbers = range(before, before + count)
        session.add_all(Row(id=str(n), owner=owner, started_at=at, changed_at=at, over=over) for n in numbers)


def owners(kept):
    with kept.reading() as session:
        return sorted(row.owner for row in session.query(Row))


def test_what_a_visitor_has_left_for_ninety_days_is_forgotten(kept):
    add(kept, f"{VISITORS}old", days=91)
    add(kept, f"{VISITORS}back again", days=89)
    add(kept, "account:1", days=1000)
    forget(kept, Row)
    assert owners(kept) == ["account:1", f"{VISITORS}back again"]


def test_so_many_may_be_under_way(kept):
    add(kept, "account:1", count=UNDER_WAY - 1)
    add(kept, "account:1", over="yes", count=5)
    check_room(kept, Row, "account:1", Row.over == "no", 1, "games")
    add(kept, "account:1")
    check_room(kept, Row, "account:2", Row.over == "no", 1, "games")
    with pytest.raises(PlayError, match="You have 20 games under way, which is the limit"):
        check_room(kept, Row, "account:1", Row.over == "no", 1, "games")


def test_visitors_share_their_room(kept):
    add(kept, f"{VISITORS}a", over="yes")
    check_room(kept, Row, f"{VISITORS}b", Row.over == "no", 2, "matches")
    add(kept, f"{VISITORS}b", over="yes")
    with pytest.raises(PlayError, match="There is no room for more matches"):
        check_room(kept, Row, f"{VISITORS}b", Row.over == "no", 2, "matches")
    check_room(kept, Row, "account:1", Row.over == "no", 2, "matches")
