"""Cells of the timing operators, against the times of each order, square by square."""

import numpy as np
import pytest

from pttt_ooc.games.rules.catalogue import named_game
from pttt_ooc.games.structure.cells import BASE, Cells, PlayerOrders, find_cells, times_of
from pttt_ooc.games.structure.orders import all_orders
from pttt_ooc.games.structure.patterns import FAILED, PLACED, keys_of, kinds_of, squares_of

NEVER = -2


def pattern(*squares):
    """The number of a pattern, from the kind and the key number (or None) of each square."""
    return sum((1 + kind | (0 if key is None else 1 + key) << 2) << 6 * i for i, (kind, key) in enumerate(squares))


VIEW = pattern((PLACED, 2), (FAILED, 0), (PLACED, None), (FAILED, 1), (PLACED, None))


def naive_times(table, placed, classical):
    for order in table.tolist():
        before = [sum(placed >> square & 1 for square in order[:slot]) for slot in range(len(order))]
        yield {square: before[slot] if classical else slot for slot, square in enumerate(order)}


@pytest.mark.parametrize("rule", ["abrupt", "classical"])
@pytest.mark.parametrize("cut", [1, 2, 3, BASE])
@pytest.mark.parametrize("prefix_major", [False, True])
@pytest.mark.parametrize("ends_at", [NEVER, 2, 3])
def test_each_order_has_the_cell_of_its_times(rule, cut, prefix_major, ends_at):
    side = PlayerOrders(named_game(f"mini-2x3k3-{rule}"), 1)
    kinds, [keys] = int(kinds_of(np.int64(VIEW))), keys_of(np.array([VIEW]))
    placed, failed = squares_of(VIEW, PLACED), squares_of(VIEW, FAILED)
    assert (placed, failed, keys.tolist()) == (0b10101, 0b01010, [1, 3, 0])
    table = all_orders(placed, failed, *side.counts.tables)
    orders = side.orders(kinds, cut)
    cells = Cells(orders, keys, cut)
    found = np.empty(len(table), np.uint16)
    find_cells(orders, keys, cells.tables, prefix_major, ends_at, found)
    assert len(table) > 10 and len(orders.prefix_code) <= len(table)
    some = 0
    for times, cell in zip(naive_times(table, placed, rule == "classical"), found.tolist(), strict=True):
        if ends_at in times.values():
            assert cell == cells.size
            continue
        mine = [times[square] for square in keys]
        which = cells.sets.tolist().index(sum(1 << k for k, time in enumerate(mine) if time < cut))
        first, height, width = cells.matrices()[which]
        column, row = (cell - first) // height, (cell - first) % height
        if not prefix_major:
            row, column = (cell - first) // width, (cell - first) % width
        assert 0 <= row < height and 0 <= column < width
        tables = cells.tables
        early = times_of(tables.column_code[tables.first_column[which] :][column : column + 1], len(keys))[0]
        late = times_of(tables.row_code[tables.first_row[which] :][row : row + 1], len(keys))[0]
        assert early.tolist() == [time if time < cut else -1 for time in mine]
        assert late.tolist() == [time if time >= cut else -1 for time in mine]
        some += 1
    assert some or ends_at != NEVER


def test_orders_share_prefixes_and_suffixes():
    side = PlayerOrders(named_game("pttt-abrupt"), 0)
    orders = side.orders(int(kinds_of(np.int64(pattern(*[(PLACED, None)] * 4, *[(FAILED, None)] * 3)))), 4)
    assert len(set(orders.prefix_code.tolist())) <= len(orders.prefix_code) < len(orders.prefix) / 4
    assert len(orders.suffix_code) == len(set(orders.suffix_code.tolist())) < len(orders.suffix) / 3
