"""The host for clients of MCP: the SDK's own client over both transports, and a player with typical faults.

No language model plays here: the player is a script that makes the faults that they make.
"""

import asyncio
import os
import random
import re
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.site.host.match_rows import HostMatch
from pttt_ooc.site.host.part import LARGEST_BODY
from tests.kits.browsing import served
from tests.kits.patience import PATIENCE
from tests.site.host.host_kit import GAME, HOST, Program, Scripted, application, make_matches

mcp = pytest.importorskip("mcp", reason="the extra mcp is not installed: `pip install mcp`")
from mcp.client.streamable_http import streamable_http_client  # noqa: E402

TOOLS = {"list_games", "begin_match", "attempt", "resign", "look", "open_matches"}
ROOT = Path(__file__).parents[3]


@asynccontextmanager
async def over_http(address, token):
    """The SDK's client over streamable HTTP, with a token; and all bytes that it gets."""
    import httpx2

    got = []

    async def keep(response):
        got.append(await response.aread())

    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, event_hooks={"response": [keep]}, timeout=PATIENCE) as client:
        transport = streamable_http_client(f"{address}{HOST}/mcp", http_client=client)
        async with mcp.Client(transport) as session:
            yield session, got


class Faulty:
    """A player with the faults of language models: it needs several tries, and reads what it did wrong."""

    def __init__(self, session, rng):
        self.session, self.rng, self.told, self.attempts = session, rng, [], 0

    async def ask(self, tool, **arguments):
        answer = await self.session.call_tool(tool, arguments)
        if answer.is_error:
            self.told.append(answer.content[0].text)
            return None
        return answer.structured_content

    async def play(self, player):
        match = await self.ask("begin_match", game=GAME, opponent="solution", player=player)
        while not match["over"]:
            square, fault = self.rng.choice(match["legal"]), self.attempts % 6  # each in turn, and then none
            self.attempts += 1
            wrong = {
                0: {"square": f"I think that {square} is best, because it blocks."},
                1: {"square": next((one["square"] for one in match["attempts"]), 77)},
                2: {"square": square + 0.5},
                3: {"position": square},
            }.get(fault)
            if wrong is not None:
                assert await self.ask("attempt", match=match["id"], **wrong) is None
            elif fault == 4:
                assert await self.ask("attempt", match="the first match", square=square) is None
            match = await self.ask("attempt", match=match["id"], square=square)
        return match


async def try_all(session):
    """All tools, with the resources; returns what a faulty player was told."""
    assert "list_games names games and opponents" in session.instructions
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert {*tools} == TOOLS
    for tool in tools.values():
        assert tool.description and tool.output_schema["type"] == "object"
        for parameter in tool.input_schema.get("properties", {}).values():
            assert parameter["description"] and parameter["type"] in ("integer", "string")
    rules = {str(one.uri): one for one in (await session.list_resources()).resources}
    assert [*rules] == [f"rules://{GAME}"]
    assert "Placed or not" in (await session.read_resource(f"rules://{GAME}")).contents[0].text
    player = Faulty(session, random.Random(5))
    games = await player.ask("list_games")
    keys = [one["key"] for one in games["games"][0]["opponents"]]
    assert games["games"][0]["name"] == GAME and keys == ["solution", "other", "agent"]
    for n in range(6):
        over = await player.play(n % 2)
        assert over["ended"] == "played" and over["result"] in (-1, 0, 1)
    match = await player.ask("begin_match", game=GAME, opponent="solution", player=0)
    assert (await player.ask("look", match=match["id"]))["infoset"] == match["infoset"]
    assert [one["id"] for one in (await player.ask("open_matches"))["matches"]] == [match["id"]]
    assert (await player.ask("resign", match=match["id"]))["ended"] == "resigned"
    assert await player.ask("attempt", match=match["id"], square=0) is None
    assert await player.ask("begin_match", game="chess", opponent="solution", player=0) is None
    return player.told


def check_told(told):
    """Each fault was answered with a sentence that says what would be right."""
    for part in (
        "cannot be attempted now; choose one of ",
        "no such match of yours",
        "match is over",
        f"choose one of {GAME}",
        "valid integer",
        "Field required",
    ):
        assert any(part in one for one in told), (part, told)
    assert not any("Traceback" in one for one in told)


@pytest.fixture
def matches(in_memory):
    made = make_matches(in_memory)
    yield made
    made.close()


@pytest.mark.slow
def test_the_sdks_client_plays_over_http(matches):
    app = application(matches)
    token = Program(app, "model").token

    async def client(address):
        async with over_http(address, token) as (session, got):
            return await try_all(session), b"".join(got)

    with served(app) as address:
        told, got = asyncio.run(client(address))
    check_told(told)
    assert re.search(rb'"structuredContent"', got)
    with matches.store.database.reading() as session:
        rows = session.query(HostMatch).all()
    assert len(rows) == 7 and sum(row.refused for row in rows) > 0 and {row.owner for row in rows} == {"agent:1"}


@pytest.mark.slow
def test_two_of_the_sdks_clients_meet(matches):
    """Over streamable HTTP, at the same time: one waits until the other has come, and each sees its own infoset."""
    app = application(matches)
    tokens = [Program(app, name).token for name in ("one", "two")]

    async def play(address, player):
        async with over_http(address, tokens[player]) as (session, got):
            agent = Faulty(session, random.Random(player))
            match = await agent.ask("begin_match", game=GAME, opponent="agent", player=player)
            if player == 0:
                assert await agent.ask("attempt", match=match["id"], square=77) is None
            while not match["over"]:
                if match["your_turn"]:
                    match = await agent.ask("attempt", match=match["id"], square=agent.rng.choice(match["legal"]))
                else:
                    match = await agent.ask("look", match=match["id"])
            return match, agent.told, b"".join(got)

    async def meet(address):
        return await asyncio.gather(play(address, 0), play(address, 1))

    with served(app) as address:
        (mine, told, got), (theirs, _, _) = asyncio.run(meet(address))
    assert mine["ended"] == theirs["ended"] == "played" and mine["result"] == -theirs["result"]
    assert len(told) == 1 and "cannot be attempted now; choose one of " in told[0]
    assert theirs["id"].encode() not in got
    with matches.store.database.reading() as session:
        rows = {row.id: row for row in session.query(HostMatch)}
    assert {*rows} == {mine["id"], theirs["id"]} and rows[mine["id"]].other == theirs["id"]
    assert rows[mine["id"]].attempts == rows[theirs["id"]].attempts
    history = rows[mine["id"]].history(named_game(GAME))
    assert [history.infoset(player) for player in (0, 1)] == [mine["infoset"], theirs["infoset"]]


@pytest.mark.slow
def test_mcp_wants_a_token_and_has_limits(matches):
    app = application(matches, wrong_tokens_per_hour=3)
    with served(app) as address:
        import httpx2

        for headers in ({}, {"Authorization": "Basic x"}, {"Authorization": "Bearer 1.guess"}):
            refused = httpx2.post(f"{address}{HOST}/mcp", headers=headers, json={}, timeout=PATIENCE)
            assert refused.status_code == 401 and "token" in refused.json()["error"]
        me = {"Authorization": f"Bearer {Program(app, 'me').token}", "Accept": "application/json, text/event-stream"}
        large = httpx2.post(f"{address}{HOST}/mcp", headers=me, json={"x": "y" * LARGEST_BODY}, timeout=PATIENCE)
        assert large.status_code == 413
        foreign = httpx2.post(
            f"{address}{HOST}/mcp", headers={**me, "Origin": "http://evil"}, json={}, timeout=PATIENCE
        )
        assert foreign.status_code == 403


@pytest.mark.slow
def test_answers_of_mcp_depend_on_the_infoset(in_memory, clock):
    """As in the test of secrecy: the bytes of the answers do not depend on hidden marks."""
    opponents = Scripted(GAME)
    matches = make_matches(in_memory, opponents, now=clock)
    app = application(matches)
    token = Program(app, "model").token

    async def client(address):
        async with over_http(address, token) as (session, got):
            player = Faulty(session, random.Random(1))
            match = await player.ask("begin_match", game=GAME, opponent="solution", player=0)
            for square in (5, 0):
                match = await player.ask("attempt", match=match["id"], square=square)
                await player.ask("look", match=match["id"])
                await player.ask("attempt", match=match["id"], square=5)
            assert not match["over"]
            await player.ask("resign", match=match["id"])
            return [one.replace(match["id"].encode(), b"ID") for one in got]

    told = []
    with served(app) as address:
        for opponents.script in ((3, 2, 1, 0, 4, 5), (2, 3, 1, 0, 4, 5)):
            told.append(asyncio.run(client(address)))
    assert told[0] == told[1] and len(told[0]) > 8
    matches.close()


@pytest.mark.slow
def test_the_sdks_client_plays_over_stdio(tmp_path):
    """The command, as a client of MCP starts it: it plays, is killed, and goes on with the same matches."""
    words = ["-m", "pttt_ooc", "lab", "host", "uniform", "--game", GAME, "--data", "data", "--mcp", "local model"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = mcp.StdioServerParameters(command=sys.executable, args=words, cwd=tmp_path, env=environment)

    async def first():
        async with mcp.Client(started) as session:
            player = Faulty(session, random.Random(2))
            [game] = (await player.ask("list_games"))["games"]
            assert [one["key"] for one in game["opponents"]][0] == "uniform"
            match, end = None, time.monotonic() + PATIENCE
            while match is None and time.monotonic() < end:  # kernels may be compiled first
                match = await player.ask("begin_match", game=GAME, opponent="uniform", player=0)
            assert all("try again" in one for one in player.told)
            return await player.ask("attempt", match=match["id"], square=0)

    async def second(match):
        async with mcp.Client(started) as session:
            player = Faulty(session, random.Random(2))
            seen = await player.ask("look", match=match["id"])
            assert {**seen, "seconds_left": 0, "text": ""} == {**match, "seconds_left": 0, "text": ""}
            while not seen["over"]:
                after = await player.ask("attempt", match=match["id"], square=seen["legal"][0])
                seen = after or seen
            return [one for one in player.told if "try again" not in one]

    assert asyncio.run(second(asyncio.run(first()))) == []
