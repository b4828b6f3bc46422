"""Kernels that solve k-in-a-row on small boards: alpha-beta with a table, and proof-number search.

Both answer one question, yes or no: can the *attacker* get `need` marks in a row, however the *defender* plays?  The
value of a position follows from two such questions, one for each player.  As a question has only two answers,
alpha-beta uses a null window, and returns at the first move that decides it.

The two methods share the rules (:func:`look`) and the table's keys.  Alpha-beta also uses a bound of Erdős and
Selfridge, asks whether the Maker-Breaker form answers no, and orders moves by the lines that they are on.

A square is a bit; a board has at most 64 squares, so that each player's marks are one word, and both are an exact key.
"""

from __future__ import annotations

import numpy as np

from pttt_ooc.jit import kernel, piece
from pttt_ooc.other_games.arena.research.kernels.maker_breaker import NO, STOPPED, YES, maker_wins, slot_of
from pttt_ooc.other_games.arena.research.kernels.open_lines import set_bits

_ONE = np.uint64(1)
_EMPTY = np.uint64(0xFFFFFFFFFFFFFFFF)  # no position: the attacker would have all squares, and no line
_FAR = 1 << 30  # an infinite proof number
_ASKED = 10_000
"""Nodes that the Maker-Breaker form may take at each position of alpha-beta.  On 7 x 4 squares with four in a row, 300
take four times as long; on 8 x 4, 100,000 are little better."""
_HOPE = 3.0
"""From this danger on, that form is not asked, as it seldom answers no.  On 8 x 5 squares with four in a row, a search
that always asks takes half as long again; with 1.5, the one on 8 x 4 takes nearly twice as long."""

UNKNOWN, FULL = -1, 3  # beside NO, YES and STOPPED


@piece
def look(lines, need, attacker, defender):
    """The threats of both players, and the squares that matter.

    Parameters
    ----------
    lines
        uint64, shape (lines,): the squares of each winning line.
    attacker, defender
        uint64: their marks.

    Returns
    -------
    attacks, defences
        The squares that complete a line of the attacker, and of the defender.
    open_lines
        The attacker's lines without a mark of the defender.
    live
        The free squares of all lines that only one player or neither has marked.  A move elsewhere has no effect, and a
        move is never worse than a pass, so only these moves count.
    danger
        The sum over the attacker's open lines of ``2 ** -free squares``.
    """
    attacks = defences = live = np.uint64(0)
    open_lines = 0
    danger = 0.0
    for n in range(len(lines)):
        line = lines[n]
        mine, theirs = line & attacker, line & defender
        # An open line of the attacker: it counts in the danger, and with one square missing it is a threat.
        if theirs == 0:
            free = line & ~mine
            missing = need - set_bits(mine)
            open_lines += 1
            live |= free
            danger += 2.0**-missing
            if missing == 1:
                attacks |= free
        # A line that the defender may still complete, which would end the game without a line of the attacker.
        if mine == 0:
            free = line & ~theirs
            live |= free
            if need - set_bits(theirs) == 1:
                defences |= free
    return attacks, defences, open_lines, live, danger


@piece
def forced_moves(attacks, defences, live, attacker_moves):
    """The moves to consider, and the answer if it is already known: (squares, UNKNOWN, NO or YES)."""
    if attacker_moves:
        if attacks != 0:
            return live, YES
        must = defences
    else:
        if defences != 0:
            return live, NO
        must = attacks
    if must == 0:
        return live, UNKNOWN
    if must & (must - _ONE) != 0:  # two threats cannot be parried
        return live, NO if attacker_moves else YES
    return must, UNKNOWN


@piece
def place(images, below, depth, square, attacker_moves):
    """Write to row ``depth + 1`` of `images` all images of a position after a move.

    Parameters
    ----------
    images
        uint64, shape (depths, symmetries, 2): the attacker's marks, and the defender's.
    below
        int64, shape (symmetries, squares): where each symmetry takes each square.
    """
    mover = 0 if attacker_moves else 1
    for s in range(images.shape[1]):
        images[depth + 1, s, mover] = images[depth, s, mover] | (_ONE << np.uint64(below[s, square]))
        images[depth + 1, s, 1 - mover] = images[depth, s, 1 - mover]


@piece
def _key(images, depth):
    """The least image of a position, two words: the same for all positions that are symmetric."""
    first, second = images[depth, 0, 0], images[depth, 0, 1]
    for s in range(1, images.shape[1]):
        one, other = images[depth, s, 0], images[depth, s, 1]
        if one < first or (one == first and other < second):
            first, second = one, other
    return first, second


@piece
def _defender_holds(form, asked, attacker, defender, attacker_moves, budget):
    """Whether the Maker-Breaker form shows, with a few nodes, that the attacker has no line."""
    asked[0], asked[1] = 0, min(_ASKED, budget[1] - budget[0])
    answer = maker_wins(form, attacker, ~(attacker | defender), attacker_moves, asked)
    budget[0] += min(asked[0], asked[1])
    return answer == NO


@kernel
def alpha_beta(lines, weights, need, below, images, depth, attacker_moves, keys, answers, scores, budget, form, asked):
    """Whether the attacker can force a line, by alpha-beta with a null window and a table of positions.

    Parameters
    ----------
    weights
        float64, shape (need,): how much a line with so many marks of one player adds to the order of its free squares.
    depth
        The number of marks on the board; row `depth` of `images` has the position.
    keys, answers
        The table: uint64, shape (size, 2), and int8, of a size that is a power of two; the latest position stays.
    scores
        Scratch: float64, shape (depths, squares).
    budget
        int64, shape (2,): nodes visited, those of the Maker-Breaker form included, and nodes allowed.
    form, asked
        The Maker-Breaker form, and its budget.

    Returns
    -------
    NO, YES, or STOPPED if the budget did not suffice.

    Notes
    -----
    If the attacker cannot force a line in the Maker-Breaker form, it cannot in the game: the defender's lines can only
    end the game earlier.

    The attacker has no win if the sum of ``2 ** -free squares`` over its open lines is less than 1 and the defender is
    to move, or less than 1/2 and the attacker is (P. Erdős and J. L. Selfridge, On a combinatorial game, 1973: the
    defender takes the square with the largest sum, and no line is ever completed).
    """
    # Threats decide or force a move; with no open line, or below Erdős and Selfridge's bound, the attacker has no win.
    budget[0] += 1
    if budget[0] > budget[1]:
        return STOPPED
    attacker, defender = images[depth, 0, 0], images[depth, 0, 1]
    attacks, defences, open_lines, live, danger = look(lines, need, attacker, defender)
    moves, answer = forced_moves(attacks, defences, live, attacker_moves)
    if answer != UNKNOWN:
        return answer
    if open_lines == 0 or danger < (0.5 if attacker_moves else 1.0):
        return NO
    # The table knows positions up to symmetry; where the danger is small, the Maker-Breaker form may answer no.
    first, second = _key(images, depth)
    slot = slot_of(first, second, len(keys))
    if keys[slot, 0] == first and keys[slot, 1] == second:
        return np.int64(answers[slot])
    if danger < _HOPE and _defender_holds(form, asked, attacker, defender, attacker_moves, budget):
        keys[slot, 0], keys[slot, 1] = first, second
        answers[slot] = NO
        return NO
    # The order of moves: each line adds to its squares, the more marks it has, unless both players are on it.  Squares
    # that are no candidates have a negative score.
    row = scores[depth]
    row[:] = -1.0
    for square in range(len(row)):
        if moves >> np.uint64(square) & _ONE:
            row[square] = 0.0
    for n in range(len(lines)):
        mine, theirs = lines[n] & attacker, lines[n] & defender
        if mine != 0 and theirs != 0:
            continue
        weight = weights[set_bits(mine | theirs)]
        for square in range(len(row)):
            if row[square] >= 0 and lines[n] >> np.uint64(square) & _ONE:
                row[square] += weight
    # A null window: the first move with the answer that the mover wants decides.
    wanted = YES if attacker_moves else NO
    answer = 1 - wanted
    while True:
        square = int(np.argmax(row))
        if row[square] < 0:
            break
        row[square] = -1.0
        place(images, below, depth, square, attacker_moves)
        found = alpha_beta(
            lines,
            weights,
            need,
            below,
            images,
            depth + 1,
            not attacker_moves,
            keys,
            answers,
            scores,
            budget,
            form,
            asked,
        )
        if found == STOPPED:
            return STOPPED
        if found == wanted:
            answer = wanted
            break
    # The latest position stays in the table.
    keys[slot, 0], keys[slot, 1] = first, second
    answers[slot] = answer
    return answer


@piece
def _find(first, second, keys):
    """Where a position is in the table of numbers, or the free place where it belongs."""
    slot = slot_of(first, second, len(keys))
    while (keys[slot, 0] != first or keys[slot, 1] != second) and keys[slot, 0] != _EMPTY:
        slot = (slot + 1) & (len(keys) - 1)
    return slot


@kernel
def enlarge(keys, proofs, disproofs, new_keys, new_proofs, new_disproofs):
    """Copy a table of numbers to a larger one, whose keys are all free."""
    for n in range(len(keys)):
        if keys[n, 0] != _EMPTY:
            slot = _find(keys[n, 0], keys[n, 1], new_keys)
            new_keys[slot] = keys[n]
            new_proofs[slot] = proofs[n]
            new_disproofs[slot] = disproofs[n]


@piece
def _numbers(lines, need, images, depth, attacker_moves, keys, proofs, disproofs):
    """Proof and disproof number of a position: of an end, from the table, or those of a new leaf."""
    attacker, defender = images[depth, 0, 0], images[depth, 0, 1]
    attacks, defences, open_lines, live, danger = look(lines, need, attacker, defender)
    _, answer = forced_moves(attacks, defences, live, attacker_moves)
    if answer == YES:
        return 0, _FAR
    if answer == NO or open_lines == 0:
        return _FAR, 0
    key = _key(images, depth)
    slot = _find(key[0], key[1], keys)
    if keys[slot, 0] != _EMPTY:
        return np.int64(proofs[slot]), np.int64(disproofs[slot])
    return max(1, np.int64(8 / danger)), max(1, np.int64(8 * danger))


@piece
def _expand(lines, need, below, images, depth, attacker_moves, keys, proofs, disproofs):
    """The numbers of a position from those of the positions after its moves, and the move to search next.

    Returns
    -------
    proof, disproof
        Numbers of the position.
    best
        The move with the least proof number if the attacker is to move, else with the least disproof number.
    second
        The least such number of all other moves.
    more
        The number of other moves that count in the position's other number.
    """
    attacker, defender = images[depth, 0, 0], images[depth, 0, 1]
    attacks, defences, _, live, _ = look(lines, need, attacker, defender)
    moves, _ = forced_moves(attacks, defences, live, attacker_moves)
    least, second, largest = _FAR, _FAR, 0
    best, more = -1, -1
    for square in range(below.shape[1]):
        if not moves >> np.uint64(square) & _ONE:
            continue
        place(images, below, depth, square, attacker_moves)
        proof, disproof = _numbers(lines, need, images, depth + 1, not attacker_moves, keys, proofs, disproofs)
        own, other = (proof, disproof) if attacker_moves else (disproof, proof)
        largest = max(largest, other)
        if other > 0:
            more += 1
        if own < least:
            second = least
            least, best = own, square
        elif own < second:
            second = own
    more = max(more, 0)
    total = min(largest + more, _FAR)
    if attacker_moves:
        return least, total, best, second, more
    return total, least, best, second, more


@kernel
def proof_number(lines, need, below, images, depth, attacker_moves, keys, proofs, disproofs, budget):
    """Whether the attacker can force a line, by depth-first proof-number search.

    Parameters
    ----------
    keys, proofs, disproofs
        The table: uint64, shape (size, 2), int32, int32, of a size that is a power of two.  No entry is ever replaced:
        two positions that share a place would overwrite each other again and again.
    budget
        As in :func:`alpha_beta`.

    Returns
    -------
    NO, YES, STOPPED if the budget did not suffice, or FULL if the table did not.  After :func:`enlarge` the search
    continues from where it was.

    Notes
    -----
    A. Nagai, Df-pn algorithm for searching AND/OR trees and its applications, 2002; in place of the sum of numbers the
    largest of them and one for each other move, as many moves lead to the same positions (T. Ueda and others, Weak
    proof-number search, 2008).  No position occurs twice in a game, so that cycles do not matter.
    """
    # The root may be an end already; then there is nothing to search.
    proof, disproof = _numbers(lines, need, images, depth, attacker_moves, keys, proofs, disproofs)
    limits = np.full((images.shape[0], 2), _FAR)  # proof and disproof numbers at which a node is left
    first_depth, first_moves = depth, attacker_moves
    if proof == 0 or disproof == 0:
        depth -= 1
    used = np.int64(np.sum(keys[:, 0] != _EMPTY))
    # Each step expands the node at the end of the path to the most promising leaf.
    while depth >= first_depth:
        if budget[0] >= budget[1]:
            return STOPPED
        if 4 * used > 3 * len(keys):
            return FULL
        budget[0] += 1
        attacker_moves = first_moves == ((depth - first_depth) % 2 == 0)
        proof, disproof, best, second, more = _expand(
            lines, need, below, images, depth, attacker_moves, keys, proofs, disproofs
        )
        # A number has reached its limit: the node goes to the table, and its parent looks for the best move anew.
        if proof >= limits[depth, 0] or disproof >= limits[depth, 1]:
            own_key = _key(images, depth)
            slot = _find(own_key[0], own_key[1], keys)
            if keys[slot, 0] == _EMPTY:
                used += 1
            keys[slot, 0], keys[slot, 1] = own_key
            proofs[slot] = proof
            disproofs[slot] = disproof
            depth -= 1
            continue
        # Else on to the best move, up to where the second best would be better, or the parent's limit would be reached.
        own, other = (0, 1) if attacker_moves else (1, 0)
        limits[depth + 1, own] = min(limits[depth, own], second + 1)
        limits[depth + 1, other] = limits[depth, other] - more
        place(images, below, depth, best, attacker_moves)
        depth += 1
    return YES if proof == 0 else NO
