"""A host in this process."""

import pytest

from pttt_ooc.site.host import host_api
from tests.site.host.host_kit import Clock, application, make_matches


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def matches(in_memory, clock):
    made = make_matches(in_memory, now=clock)
    yield made
    made.close()


@pytest.fixture
def app(matches, clock, monkeypatch):
    monkeypatch.setattr(host_api, "_arrival_of", lambda request: clock.time)
    return application(matches)
