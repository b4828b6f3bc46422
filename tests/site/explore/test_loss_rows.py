"""Rows of the lists of mistakes and differences."""

from dataclasses import asdict

import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.library.questions.losses import Loss
from pttt_ooc.site.explore.address import Address
from pttt_ooc.site.explore.loss_lists import loss_row

GAME = named_game("mini-2x2k2-abrupt")


def row(probabilities, losses, infoset="|0*"):
    one = Loss(infoset, 0.1, 2, 0.05, 0.5, probabilities, losses)
    return loss_row(GAME, asdict(one), Address(1, "|", ("s3", "solution")))


def test_a_row_has_the_squares_that_cost_most_and_are_best_with_their_picture():
    found = row((0.0, 0.5, 0.2, 0.3), (None, 0.1, 0.2, 0.0))  # 0.05, 0.04, 0
    assert (found["worst"], found["best"]) == ((1, 0.5), (3, 0.3))
    assert (found["player"], found["infoset"], found["images"]) == (1, "|0*", 2)
    assert found["address"].endswith("at=|0*") and "first=s3&" in found["address"]
    tones = {cell.square: [layer.tone for layer in cell.layers] for cell in found["board"]}
    assert tones == {0: [], 1: ["theirs"], 3: ["ours"]}


@pytest.mark.parametrize("losses", [(None, -0.1, -0.2, 0.0), (None, 0.0, 0.0, 1e-14)])
def test_where_nothing_costs_anything_no_square_costs_most(losses):
    found = row((0.0, 0.5, 0.2, 0.3), losses)
    assert found["worst"] is None and found["best"][0] == min((1, 2, 3), key=lambda s: losses[s])
    assert {cell.square: len(cell.layers) for cell in found["board"]} == {0: 0, found["best"][0]: 1}
