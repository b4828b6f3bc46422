"""Pieces of mapped arrays are in memory when a step needs them, within a share of the memory."""

import random
from functools import partial

import numpy as np
import pytest

from pttt_ooc.disk import block_mover
from pttt_ooc.disk.block_mover import BlockMover, Step, Use
from pttt_ooc.disk.store import create_array, map_of, scratch_array

PIECE = 4096


@pytest.fixture
def seen(monkeypatch):
    """What the mover does to each piece, in order, besides doing it."""
    events = []
    monkeypatch.setattr(block_mover, "PIECE", PIECE)

    def noted(name, call, piece, *rest):
        events.append((name, piece, *rest))
        call(piece, *rest)

    for name in ("_bring", "_start_writing", "_drop"):
        monkeypatch.setattr(block_mover, name, partial(noted, name, getattr(block_mover, name)))
    return events


def present(events):
    """The pieces that were brought and not dropped."""
    found = set()
    for name, piece, *_ in events:
        (found.discard if name == "_drop" else found.add)(piece)
    return found


def test_steps_find_their_pieces_within_the_share(tmp_path, seen):
    """Twenty pieces of two arrays go twice through six; what a step uses is there, and was not written too late."""
    arrays = [create_array(tmp_path, "a", (10 * PIECE - 100,), "u1"), scratch_array(tmp_path, "b", 10 * PIECE, "u1")]
    done, most = [], 6 * PIECE

    def step(number, part, changes):
        def work():
            pieces = set(block_mover._pieces_of([Use(part)]))
            # The end of the list of events may be of a later step, so the last event of each own piece is looked at.
            last = {piece: name for name, piece, *_ in list(seen)}
            assert {last[piece] for piece in pieces} == {"_bring"}
            newest = {piece: may for name, piece, *may in list(seen) if name == "_bring"}
            assert not changes or all(newest[piece] == [True] for piece in pieces), "changes meet no page faults"
            done.append(number)
            if changes:
                part[...] += number

        return Step([Use(part, changes), Use(np.zeros(5)), Use(part[:0])], work)

    steps = []
    for k in range(40):
        array, at = arrays[k % 2], k // 2 % 10 * PIECE
        steps.append(step(k, array[at - 50 * (at > 0) : at + PIECE - 50], k < 20 or k % 3 == 0))
    expected = [array.copy() for array in arrays]
    for k in range(40):
        at = k // 2 % 10 * PIECE
        if k < 20 or k % 3 == 0:
            expected[k % 2][at - 50 * (at > 0) : at + PIECE - 50] += np.uint8(k)
    with BlockMover(most) as mover:
        mover.perform(steps)
        assert done == list(range(40))
        assert 0 < sum(piece.size for piece in mover._present) <= most
    for array, wanted in zip(arrays, expected, strict=True):
        assert np.array_equal(array, wanted)
        assert np.array_equal(np.frombuffer(map_of(array).file.read(), np.uint8), wanted)
    assert len(present(seen)) * PIECE <= most
    changed = set()
    for name, piece, *changes in seen:
        assert name != "_drop" or piece not in changed, "what was changed has begun to be written"
        (changed.add if changes == [True] else changed.discard)(piece)


def naive_moves(steps, most):
    """Pieces brought in each of three rounds of steps of one piece, if the one that is needed last leaves."""
    present, brought = set(), [0, 0, 0]
    order = steps * 4
    for at, piece in enumerate(steps * 3):
        if piece not in present and len(present) == most:
            movable = present - set(order[max(at - 1, 0) : at])
            present.remove(max(movable, key=lambda other: order.index(other, at)))
        brought[at // len(steps)] += piece not in present
        present.add(piece)
    return brought


def test_plans_move_least(tmp_path, monkeypatch):
    """Random steps that change what they use: the pieces that are needed last leave, after the steps that use them."""
    monkeypatch.setattr(block_mover, "PIECE", PIECE)
    array, chance = scratch_array(tmp_path, "a", 12 * PIECE, "u1"), random.Random(2)
    pieces = list(block_mover._pieces_of([Use(array)]))
    assert naive_moves([*pieces[:6], *pieces[5::-1]], 4) == [8, 4, 4], "to and fro, the last ones stay"
    for _ in range(30):
        order = [chance.choice(pieces) for _ in range(40)]
        most, present, brought = chance.randint(3, 8), {}, []
        for _ in range(3):
            early, moves = block_mover.plan_moves([{piece: True} for piece in order], present, most * PIECE)
            present.update(dict.fromkeys(early, False))
            brought.append(0)
            for k, (piece, move) in enumerate(zip(order, moves, strict=True)):
                assert move.after <= max(k - 1, 0), "the step before may still be at work"
                for gone in move.leaving:
                    assert gone not in order[move.after : k + 1] and not present.pop(gone), "it was written before"
                brought[-1] += piece not in present
                assert len(present | {piece: True}) <= most
                present[piece] = True
                assert set(move.writes) <= {piece}
                present.update(dict.fromkeys(move.writes, False))
        assert brought == naive_moves(order, most)


def test_a_step_may_need_more_than_the_share_and_may_fail(tmp_path, seen):
    array, done = scratch_array(tmp_path, "a", 8 * PIECE, "u1"), []

    def fail():
        raise ZeroDivisionError

    with BlockMover(2 * PIECE) as mover:
        with pytest.raises(ZeroDivisionError):
            mover.perform([Step([Use(array, True)], lambda: done.append(0)), Step([Use(array)], fail)])
        for k in range(8):
            mover.perform([Step([Use(array[k * PIECE : (k + 1) * PIECE])], lambda: done.append(len(done)))])
        mover.perform([])
    assert done == list(range(9))
    assert not any(thread.name == "mover" for thread in block_mover.threading.enumerate())


def test_other_systems_move_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(block_mover.sys, "platform", "darwin")
    block_mover._system.cache_clear()
    array = scratch_array(tmp_path, "a", 3 * PIECE, "u1")
    with BlockMover(PIECE) as mover:
        mover.perform([Step([Use(array, True)], lambda: array.fill(7))])
    assert array.min() == 7 and block_mover._system() is None
    block_mover._system.cache_clear()


def test_what_ends_the_thread_is_told(tmp_path, monkeypatch):
    def fail(*_of):
        raise ZeroDivisionError("the mover")

    monkeypatch.setattr(block_mover, "_bring", fail)
    array = scratch_array(tmp_path, "a", 8, "u1")
    with BlockMover(PIECE) as mover, pytest.raises(ZeroDivisionError, match="the mover"):
        mover.perform([Step([Use(array)], lambda: None)])
