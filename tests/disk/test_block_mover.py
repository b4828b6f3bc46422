"""Pieces of mapped arrays are in memory when a step needs them, within a share of the memory."""

import errno
import os
import random
import time
from functools import partial
from mmap import PAGESIZE

import numpy as np
import pytest

from pttt_ooc.disk import block_mover, piece_buffers
from pttt_ooc.disk.block_mover import BlockMover, Step, Use
from pttt_ooc.disk.piece_buffers import PieceBuffers, pieces_of, set_direct
from pttt_ooc.disk.store import create_array, map_of, scratch_array
from pttt_ooc.errors import StoreError
from tests.kits.carried import needs_carried_pieces

PIECE = 2 * PAGESIZE


@pytest.fixture
def seen(tmp_path, monkeypatch):
    """What the mover does to each piece, in order, besides doing it; pieces are small."""
    needs_carried_pieces(tmp_path)
    events = []
    monkeypatch.setattr(piece_buffers, "PIECE", PIECE)

    def noted(name, call):
        def note(buffers, piece):
            events.append((name, piece))
            call(buffers, piece)

        return note

    for name in ("bring", "start_writing", "drop"):
        monkeypatch.setattr(PieceBuffers, name, noted(name, getattr(PieceBuffers, name)))
    return events


def test_steps_find_their_pieces_within_the_share(tmp_path, seen):
    """Twenty pieces of two arrays go twice through six; what a step uses is there, and was not written too late."""
    arrays = [create_array(tmp_path, "a", (10 * PIECE - 100,), "u1"), scratch_array(tmp_path, "b", 10 * PIECE, "u1")]
    done, most = [], 6 * PIECE

    def step(number, part, changes):
        def work():
            assert all(piece in mover._buffers._homes for piece in pieces_of(part)), "no kernel meets page faults"
            done.append(number)
            if changes:
                seen.extend(("change", piece) for piece in pieces_of(part))
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
        assert mover._buffers._homes.keys() == mover._present.keys()
    assert {piece.size for _, piece in seen} == {PIECE, PIECE - PAGESIZE}
    assert not mover._buffers._homes
    for array, wanted in zip(arrays, expected, strict=True):
        assert np.array_equal(array, wanted)
        file = map_of(array).file
        assert set_direct(file, False) and np.array_equal(np.frombuffer(file.read(), np.uint8), wanted)
    changed = set()
    for name, piece in seen:
        assert name != "drop" or piece not in changed, "what was changed has begun to be written"
        (changed.add if name == "change" else changed.discard)(piece)


def by_halves(call, file, parts, at):
    """A read or write of half of what is wanted, as after a signal."""
    [part] = parts
    return call(file, [memoryview(part)[: max(PAGESIZE, len(part) // 2)]], at)


def test_buffers_are_used_again_and_freed(tmp_path, monkeypatch):
    """Random parts come, are changed and leave, in two arrays at once; large pieces have few buffers, which end."""
    needs_carried_pieces(tmp_path)
    made, freed, chance = [], [], random.Random(8)
    for name in ("preadv", "pwritev"):
        monkeypatch.setattr(piece_buffers.os, name, partial(by_halves, getattr(os, name)))
    for name, notes in (("_new_buffer", made), ("_free_one", freed)):
        owner = PieceBuffers if name == "_free_one" else piece_buffers
        call = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *of, call=call, notes=notes: notes.append(0) or call(*of))
    arrays = [scratch_array(tmp_path, name, 3 * piece_buffers.PIECE + PAGESIZE + 7, "u1") for name in "ab"]
    copies, buffers = [array.copy() for array in arrays], PieceBuffers(3 * piece_buffers.PIECE)
    there = []
    for turn in range(200):
        which = chance.randrange(2)
        piece = chance.choice(list(pieces_of(arrays[which])))
        assert piece.size in (piece_buffers.PIECE, PAGESIZE)
        if piece not in there:
            if len(there) == 3:
                buffers.drop(there.pop(0))
            buffers.bring(piece)
            there.append(piece)
        at = piece.start + chance.randrange(piece.size)
        for array in (arrays[which], copies[which]):
            array[at : at + 5] = turn
        buffers.start_writing(piece)
    buffers.close()
    assert all(np.array_equal(array, copy) for array, copy in zip(arrays, copies, strict=True))
    assert 2 <= len(made) <= 3 and len(freed) == len(made) and not buffers._count
    with pytest.raises(StoreError, match="Cannot read a part of an array"):
        os.truncate(map_of(arrays[0]).file.fileno(), 0)
        PieceBuffers(0).bring(next(pieces_of(arrays[0])))


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
    monkeypatch.setattr(piece_buffers, "PIECE", PIECE)
    array, chance = scratch_array(tmp_path, "a", 12 * PIECE, "u1"), random.Random(2)
    pieces = list(pieces_of(array))
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


def test_random_steps_find_what_earlier_ones_wrote(tmp_path, seen):
    """With shares from one piece to all: what a step uses beyond its share it finds, too, and changes where it is."""
    chance, draw = random.Random(7), np.random.default_rng(7)
    arrays = [
        scratch_array(tmp_path, name, size * PIECE + PAGESIZE + 900, "u1")
        for name, size in (("a", 9), ("b", 4), ("c", 0), ("d", 0))
    ]
    whole = [array.copy() for array in arrays]

    def in_memory():
        found = set(list(mover._buffers._homes))  # noqa: C414 (the mover is at work: a list is made at once)
        assert sum(piece.size for piece in found) <= max(most, PIECE)
        return found

    def step():
        parts = []
        for _ in range(chance.randint(1, 5)):
            which = chance.randrange(4)
            begin = chance.randrange(len(arrays[which]))
            parts.append((which, slice(begin, begin + chance.randint(1, 4 * PIECE)), chance.random() < 0.5))

        def work():
            mine = {piece for which, part, _ in parts for piece in pieces_of(arrays[which][part])}
            there = mine & in_memory()
            shares.append(mine == there)
            for which, part, changes in parts:
                assert np.array_equal(arrays[which][part], whole[which][part])
                if changes:
                    arrays[which][part] = whole[which][part] = draw.integers(256, size=len(whole[which][part]))
            time.sleep(0.001 * (len(shares) % 2))
            assert mine & in_memory() == there, "nothing is moved while a step uses it"

        return Step([Use(arrays[which][part], changes) for which, part, changes in parts], work)

    for most in (1, 2 * PIECE, 2 * PIECE + PAGESIZE, 5 * PIECE + PAGESIZE, 20 * PIECE):
        shares = []
        with BlockMover(most) as mover:
            for _ in range(3):
                mover.perform([step() for _ in range(60)])
        assert any(shares) and all(shares) == (most == 20 * PIECE)
        for array, expected in zip(arrays, whole, strict=True):
            assert np.array_equal(array, expected)


def test_steps_may_fail(tmp_path, seen):
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


def refuse(file, command, flags=None):
    """A file system without direct reads."""
    if flags is not None:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return 0


@pytest.mark.parametrize("lacking", ["system", "page moves", "direct reads"])
def test_where_nothing_can_be_carried_nothing_is_moved(tmp_path, monkeypatch, seen, lacking):
    if lacking == "system":
        monkeypatch.setattr(piece_buffers.sys, "platform", "darwin")
    elif lacking == "page moves":
        monkeypatch.setattr(piece_buffers, "_moves_pages", lambda: False)
    else:
        monkeypatch.setattr("fcntl.fcntl", refuse)
    array = scratch_array(tmp_path, "a", 3 * PIECE, "u1")
    with BlockMover(PIECE) as mover:
        mover.perform([Step([Use(array, True)], lambda: array.fill(7))])
    assert array.min() == 7 and not seen


def test_what_ends_the_thread_is_told(tmp_path, monkeypatch):
    needs_carried_pieces(tmp_path)

    def fail(*_of):
        raise ZeroDivisionError("the mover")

    monkeypatch.setattr(PieceBuffers, "bring", fail)
    array = scratch_array(tmp_path, "a", PIECE, "u1")
    with BlockMover(PIECE) as mover, pytest.raises(ZeroDivisionError, match="the mover"):
        mover.perform([Step([Use(array)], lambda: None)])


def test_errors_of_the_disk_are_sentences(tmp_path, monkeypatch, seen):
    array = scratch_array(tmp_path, "a", 4 * PIECE, "u1")

    def full(*_of):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(piece_buffers.os, "pwritev", full)
    steps = [Step([Use(array[k * PIECE : (k + 1) * PIECE], True)], lambda: None) for k in range(4)]
    sentence = "Cannot write a part of an array: No space left on device"
    with pytest.raises(StoreError, match=sentence), BlockMover(PIECE) as mover:
        mover.perform(steps)
