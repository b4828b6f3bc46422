"""The map of where the probability flows, against all histories of small games; and its page."""

import re
from functools import partial

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.site.explore import flow
from pttt_ooc.site.explore.address import Address
from pttt_ooc.site.explore.explorer import Explorer
from pttt_ooc.site.explore.flow import flow_of
from pttt_ooc.site.explore.flow_map import COLUMN, HEIGHT, pieces
from pttt_ooc.site.explore.listed_pair import ListedPair
from pttt_ooc.site.explore.part import part_of
from pttt_ooc.site.explore.sources import FixedSources, uniform
from pttt_ooc.site.shell.application import make_application
from pttt_ooc.site.shell.shell import Shell
from tests.course.server_kit import GAME
from tests.kits import naive
from tests.kits.questioned import CASES, IDS, profile_of, tables_of
from tests.site.explore.answerer_kit import answering, ready


def visits(game, tables, player):
    """How often games come to each infoset of a player, by a walk through all histories."""
    found = {}

    def walk(history, probability):
        if history.is_terminal():
            return
        text = history.nodes[history.player]
        if history.player == player:
            found[text] = found.get(text, 0.0) + probability
        for square, p in enumerate(tables[history.player][text]):
            if p:
                walk(history.attempt(square), probability * p)

    walk(naive.History.start(game), 1.0)
    return found


def classes_of(game, visited):
    """The probability of each class of infosets that mirror each other, and its infosets."""
    found = {}
    for text, p in visited.items():
        images = frozenset(naive.image(game, text, g) for g in game.symmetries)
        found.setdefault(images, {})[text] = p
    return found


def map_of(profile, player):
    pair = ListedPair(profile)
    return flow_of(
        profile.game, player, partial(pair.row, player), partial(pair.next_infosets, player), pair.decides(player)
    )


@pytest.mark.parametrize(("game", "symmetry"), CASES, ids=IDS)
@pytest.mark.parametrize("player", [0, 1])
def test_the_map_is_what_a_walk_through_all_histories_finds(game, symmetry, player, monkeypatch):
    monkeypatch.setattr(flow, "LEAST", 0.05)
    setup = len(game.setup[player])
    classes = classes_of(game, visits(game, tables_of(game, symmetry), player))
    levels = map_of(profile_of(game, symmetry), player)
    assert len(levels) == 5 and len(levels[0]) == 1
    kept = {}
    for depth, level in enumerate(levels):
        for one in level:
            [inside] = [members for images, members in classes.items() if one.infoset in images]
            assert one.probability == pytest.approx(sum(inside.values()), abs=1e-12)
            assert (one.images, one.infoset) == (len(inside), min(inside))
            assert len(naive.attempts(one.infoset)) == depth + setup
            kept[depth, one.infoset] = inside
    for depth, level in enumerate(levels[:-1]):
        for position, one in enumerate(level):
            after = [next_one for next_one in levels[depth + 1] if next_one.parent == position]
            assert [x.probability for x in after] == sorted((x.probability for x in after), reverse=True)
            parents = kept[depth, one.infoset]
            ends = {text[:-2] for x in after for text in kept[depth + 1, x.infoset]}
            assert ends <= set(parents)
            all_after = [m for m in classes.values() if {text[:-2] for text in m} & set(parents)]
            rare = [sum(m.values()) for m in all_after if sum(m.values()) < 0.05]
            assert one.rest == pytest.approx(sum(rare), abs=1e-12) and len(after) + len(rare) == len(all_after)


def test_a_map_that_is_cut_off_follows_the_likeliest_and_says_so(monkeypatch):
    monkeypatch.setattr(flow, "LEAST", 1e-6)
    profile = profile_of(*CASES[0])
    whole = map_of(profile, 0)
    assert not any(one.cut for level in whole for one in level)
    monkeypatch.setattr(flow, "MOST", sum(one.images for one in (whole[0][0], *whole[1])))  # two columns
    first, second, third, *later = map_of(profile, 0)
    assert [first, second, [one.infoset for one in third]] == [*whole[:2], [one.infoset for one in whole[2]]]
    assert later == [[], []] and all(one.cut and not one.rest for one in third)
    monkeypatch.setattr(flow, "MOST", flow.MOST - 1)
    second = map_of(profile, 0)[1]
    assert [one.cut for one in second] == [one is min(second, key=lambda x: x.probability) for one in second]
    levels = [[vars(one) for one in level] for level in (first, second)]
    told = pieces(levels, Address(0, "|", ("solution", "uniform")), 7)
    assert told["cut"] == 7 and sum(one.words.endswith(", not followed") for one in told["pieces"]) == 1


def test_pieces_lie_beside_what_they_follow_and_are_as_high_as_they_are_likely():
    profile = profile_of(*CASES[0])
    levels = [[vars(one) for one in level] for level in map_of(profile, 0)]
    found = pieces(levels, Address(0, "|", ("solution", "uniform"), layer="value"), 7)["pieces"]
    assert sum(one.height for one in found if one.x == 0) == pytest.approx(HEIGHT)
    by_infoset = {one.infoset: one for one in found if one.address}
    assert len(by_infoset) == sum(map(len, levels)) > 3
    for column, level in enumerate(levels[1:], 1):
        for one in level:
            mine, before = by_infoset[one["infoset"]], by_infoset[levels[column - 1][one["parent"]]["infoset"]]
            assert (mine.x, mine.height) == (COLUMN * column, pytest.approx(HEIGHT * one["probability"], abs=0.01))
            assert before.y - 0.01 <= mine.y and mine.y + mine.height <= before.y + before.height + 0.02
            assert "layer=value" in mine.address and mine.address.endswith(f"at={one['infoset']}")
    for column in {one.x for one in found}:
        stack = sorted((one.y, one.y + one.height) for one in found if one.x == column)
        assert all(low >= high - 0.02 for (_, high), (low, _) in zip(stack, stack[1:], strict=False))


@pytest.mark.slow
def test_the_map_is_a_page_and_a_part_of_the_page(tmp_path):
    game = named_game(GAME)
    with answering(tmp_path / "profiles", tmp_path) as client:
        part = part_of(Explorer(game, client, FixedSources((uniform(),))))
        with TestClient(make_application(Shell("Explored", GAME, [part]))) as pages:
            page = ready(pages, "/explore?player=1&layer=value", "Getting these strategies ready").text
            address = re.search(r'hx-get="(/explore/map\?[^"]*)"', page)[1].replace("&amp;", "&")
            whole, piece = pages.get(address).text, pages.get(address, headers={"HX-Request": "true"}).text
            links = re.findall(r'data-infoset="([^"]+)" aria-label="([^"]+)"', whole)
            assert links == re.findall(r'data-infoset="([^"]+)" aria-label="([^"]+)"', piece) and len(links) > 3
            assert links[0] == ("|", "|: 1") and "<html" in whole and "<html" not in piece
            for target in re.findall(r'<a href="(/explore\?[^"]+)"', piece)[:4]:
                assert pages.get(target.replace("&amp;", "&")).status_code == 200 and "layer=value" in target
            assert pages.get("/explore/map?first=s12").status_code == 404
            assert client.answering._flows and pages.get(address).text == whole
