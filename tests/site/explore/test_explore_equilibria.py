"""Explore marks what some equilibrium plays, once `pttt lab equilibria` has found it."""

import shutil

import pytest
from fastapi.testclient import TestClient

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.pipeline.files.equilibrium import SUPPORTS, Support, write_supports
from tests.course.server_kit import GAME
from tests.kits import naive
from tests.kits.equilibria import settled
from tests.site.explore.answerer_kit import answering, explored, ready


def marked(page, mark="played"):
    """The squares with a dot, or with another mark, on the first board."""
    board = page[page.index('id="board1"') :]
    links = board[: board.index("</svg>")].split("data-square=")[1:]
    return [int(link.split('"')[1]) for link in links if f'class="{mark}"' in link]


@pytest.mark.slow
@pytest.mark.parametrize("known", [True, False])
def test_what_some_equilibrium_plays_has_a_dot(solved, prepared, tmp_path, known):
    # The support of one equilibrium stands for that of all of them.
    game, oracle = named_game(GAME), settled(GAME)
    data = tmp_path / "data"
    directory = shutil.copytree(solved, data / GAME / "full")
    if known:
        write_supports(directory, game, oracle.plans)
    support = Support(game, oracle.plans)
    never = next(
        text for text in naive.infosets(game, 1) if support.played_squares(1, tuple(naive.attempts(text))) is None
    )
    with (
        answering(shutil.copytree(prepared, tmp_path / "profiles"), data) as client,
        TestClient(explored(client, directory)) as pages,
    ):
        seen = set()
        for text in ("|", "|0*", never):
            address = f"/explore?player=1&at={text}&layer=support"
            page, answer = ready(pages, address).text, pages.get(f"/api{address[: -len('&layer=support')]}").json()
            probabilities = answer["numbers"]["probabilities"]
            shaded = [square for square, p in enumerate(probabilities) if p]
            never = answer["numbers"]["arbitrary"]  # then all squares are hollow
            assert marked(page, "hollow ours" if never else "shade ours") == shaded
            assert "in the strategy’s support" in page
            if not known:
                assert marked(page) == [] and answer["equilibria"] is None and "Between equilibrium" not in page
                assert f"<code>pttt lab equilibria --game {GAME}</code> finds which squares" in page
                continue
            squares = support.played_squares(1, tuple(naive.attempts(text)))
            assert answer["equilibria"] == {"met": squares is not None, "squares": squares or []}
            assert marked(page) == (squares or [])
            assert ("Between equilibrium strategies no game" in page) == (squares is None)
            assert page.count('some equilibrium"') >= len(squares or [])
            seen.add(squares is not None)
        assert seen == ({True, False} if known else set())
    assert (directory / SUPPORTS).exists() == known
