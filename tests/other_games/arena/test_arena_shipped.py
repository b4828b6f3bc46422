"""The weights in the package: the ones that are named, and strong without any training."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from pttt_ooc.other_games.arena.games.base import ArenaError
from pttt_ooc.other_games.arena.games.catalogue import game
from pttt_ooc.other_games.arena.research.players import evaluations
from tests.other_games.arena.arena_kit import ULTIMATE, points, seated

RULES = pytest.mark.parametrize("rules", evaluations.SHIPPED_DIGESTS)
NETWORKS = pytest.mark.parametrize("rules", evaluations.NETWORK_DIGESTS)


@RULES
def test_the_file_has_the_digest_that_is_named(rules):
    file = Path(evaluations.__file__).with_name(f"{rules.replace(':', '-')}.weights")
    assert hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest() == evaluations.SHIPPED_DIGESTS[rules]
    shipped, read = (
        evaluations.load_weights(Path(evaluations.SHIPPED), game(rules)),
        evaluations.load_weights(file, game(rules)),
    )
    assert np.array_equal(shipped[0], read[0]) and shipped[1] == read[1] == evaluations.DRAW


@RULES
def test_they_beat_the_searches_without_them(rules):
    learnt, report_s = (seated(text, rules) for text in ("tuned:depth=2,path=shipped", "alphabeta:heur=3,depth=1"))
    assert points(learnt, report_s, 20) >= 14


def test_they_are_for_the_rules_with_which_they_were_learnt():
    with pytest.raises(ArenaError, match="has weights for ultimate and ultimate:most, not for ultimate:open"):
        evaluations.load_weights(Path(evaluations.SHIPPED), game("ultimate:open"))
    with pytest.raises(ArenaError, match="is for ultimate:most, not for ultimate:"):
        evaluations.load_weights(evaluations.shipped_file(game("ultimate:most")), ULTIMATE)
    with pytest.raises(ArenaError, match="has networks for ultimate and ultimate:most, not for ultimate:open: name"):
        evaluations.load_network(Path(evaluations.NETWORK), game("ultimate:open"))


@pytest.mark.full
@RULES
def test_the_training_makes_the_same_file(tmp_path, rules):
    """On another kind of processor the last bits may differ."""
    weights, _ = evaluations.train(game(rules), 4_000_000)
    evaluations.save_weights(tmp_path / "again", game(rules), weights)
    digest = hashlib.blake2b((tmp_path / "again").read_bytes(), digest_size=8).hexdigest()
    assert digest == evaluations.SHIPPED_DIGESTS[rules]


@NETWORKS
def test_the_network_has_the_digest_that_is_named(rules):
    file = Path(evaluations.__file__).with_name(f"{rules.replace(':', '-')}.network")
    digest = hashlib.blake2b(file.read_bytes(), digest_size=8).hexdigest()
    assert digest == evaluations.NETWORK_DIGESTS[rules]
    shipped, draw = evaluations.load_network(Path(evaluations.NETWORK), game(rules))
    read, _ = evaluations.load_network(file, game(rules))
    assert draw == evaluations.DRAW and all(map(np.array_equal, shipped, read))


@pytest.mark.slow
@NETWORKS
def test_the_network_beats_the_weights_without_it(rules):
    """With so many nodes it scores about 70%."""
    texts = (f"tuned:nodes=1000,slots=65536,path={path}" for path in ("network", "shipped"))
    network, shipped = (seated(text, rules) for text in texts)
    assert points(network, shipped, 40, opening=2) >= 24
