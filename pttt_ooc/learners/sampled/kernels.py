"""The kernels of the sampled learners: a state machine for histories, random games, traversals, and restricted games.

Views are numbered together, those of player 1 after those of player 0.  A *place* is one history as nine numbers: for
each player the marks on the board, the number of the view, the rank of its order, and the symmetry that maps the board
to that view; and the mover.  One attempt changes a place in constant time, because the index has, for each action of a
view, the block of the children's ranks.

All entries of a view or of an outcome are in one line of the processor's cache.  A look-up replaces a branch that
cannot be predicted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pttt_ooc.jit import bare_kernel, piece

PLACED, VIEW, RANK, SYMMETRY, MOVER = 0, 2, 4, 6, 8  # fields of a place; the first four have one number a player
FIELDS = 9
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
GOES_ON, WON, DRAWN = 0, 1, 2  # how an attempt ends


NODE, SEQUENCE, ORDERS, ACTIONS = 0, 1, 2, 3  # columns of `Rules.views`
CHILD, FIRST_RANK, RENAMED, TURNED = 0, 1, 2, 3  # columns of `Rules.children`


class Rules(NamedTuple):
    """The tables of the state machine.

    V views of both players together, A actions, G symmetries, S squares.

    Attributes
    ----------
    views : uint64 (V, 4)
        The first node and the first sequence of a view, as in :class:`pttt_ooc.games.structure.index.PlayerIndex`, the
        number of its orders, and the number of its actions.
    square : uint8 (V, A)
        The square of an action, on the view's own board.
    children : uint32 (V, A, 2, 4)
        For each action and outcome (0 failed, 1 placed): the next view, the rank of its first order with that attempt
        last, the start of its renamed ranks, and the symmetry that maps the next board to that view.  Zeros if the
        player has no more moves.
    renamed : uint16 or wider (any,)
        Renamed ranks; the last ones are 0, 1, 2, ..., for children with the ranks of their parents.
    inverse, product : uint8 (G, S), (G, G)
        Inverse permutations of squares; ``product[h, g]`` is the symmetry `g` followed by `h`.
    wins : bool (2, 2^S)
        Whether a player's marks win.
    marks : uint64 (2,)
        The setup.
    second : uint64
        The first view of player 1.
    first : int64
        The player who moves first.
    full : uint64
        All squares.
    stays : bool
        Whether a failed attempt keeps the turn.
    """

    views: Any
    square: Any
    children: Any
    renamed: Any
    inverse: Any
    product: Any
    wins: Any
    marks: Any
    second: Any
    first: int
    full: Any
    stays: bool


# ---------------------------------------------------------------------------------------------
# The state machine.  Unsigned indices need no check for negative ones, which count from the end.


@piece
def begin(rules, place):
    """Write the empty history."""
    for p in range(2):
        place[PLACED + p] = rules.marks[p]
        place[VIEW + p] = np.uint64(p) * rules.second
        place[RANK + p] = 0
        place[SYMMETRY + p] = 0
    place[MOVER] = rules.first


@piece
def _outcome(rules, view, rank, symmetry, theirs, action):
    """The result of an attempt, from the player's view and the opponent's marks; all uint64.

    Returns
    -------
    mark, view, rank, symmetry
        The placed mark, as a mask (0: none), and the player's next place.
    """
    square = np.uint64(rules.inverse[symmetry, rules.square[view, action]])
    placed = ~(theirs >> square) & np.uint64(1)
    child = rules.children[view, action, placed]
    ranked = np.uint64(child[FIRST_RANK]) + np.uint64(rules.renamed[np.uint64(child[RENAMED]) + rank])
    return placed << square, np.uint64(child[CHILD]), ranked, np.uint64(rules.product[child[TURNED], symmetry])


@piece
def attempt(rules, place, action):
    """Make an action of the mover; return its end: GOES_ON, WON or DRAWN."""
    p = place[MOVER]
    marks, view, rank, symmetry = PLACED + p, VIEW + p, RANK + p, SYMMETRY + p
    now = np.uint64(place[view]), np.uint64(place[rank]), np.uint64(place[symmetry])
    mark, after, ranked, turned = _outcome(rules, *now, np.uint64(place[PLACED + 1 - p]), np.uint64(action))
    place[view], place[rank], place[symmetry] = after, ranked, turned
    place[marks] |= np.int64(mark)
    if rules.wins[p, place[marks]]:
        return WON
    if np.uint64(place[PLACED] | place[PLACED + 1]) == rules.full:
        return DRAWN
    if mark or not rules.stays:
        place[MOVER] = 1 - p
    return GOES_ON


@piece
def first_sequence(rules, place):
    """The first action's sequence at the mover's infoset, the distance to the next one, and the number of actions."""
    p = place[MOVER]
    view = rules.views[place[VIEW + p]]
    return np.int64(view[SEQUENCE]) + place[RANK + p], np.int64(view[ORDERS]), np.int64(view[ACTIONS])


@piece
def _random_bits(count):
    """64 random bits from a counter with steps of GOLDEN: splitmix64 (Steele, Lea and Flood 2014)."""
    z = (count ^ (count >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@piece
def draw(random):
    """A number from 0 to 1, 1 excluded; `random` is uint64 (1,)."""
    random[0] += GOLDEN
    return np.float64(_random_bits(random[0]) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@piece
def _pick(weights, actions, random):
    """Draw an action with these probabilities."""
    left = draw(random)
    for a in range(actions - 1):
        left -= weights[a]
        if left < 0:
            return a
    last = actions - 1
    while weights[last] == 0:  # rounding must not choose an action of probability 0
        last -= 1
    return last


@bare_kernel
def play_at_random(rules, games, random, sums):
    """Play games in which both players move uniformly at random.

    The history is in local variables of the mover and of the opponent, which are swapped: so the processor starts the
    next attempt before it has finished this one.

    Parameters
    ----------
    sums
        int64 (4,): four sums are added: attempts, wins of player 0, wins of player 1, and the numbers of all movers'
        nodes.
    """
    zero, one, half = np.uint64(0), np.uint64(1), np.uint64(32)
    first, count, nodes, attempts = np.uint64(rules.first), random[0], zero, 0
    for _ in range(games):
        p = first
        mine, theirs = rules.marks[p], rules.marks[one - p]
        view, other_view = p * rules.second, (one - p) * rules.second
        rank = other_rank = symmetry = other_symmetry = zero
        while True:
            attempts += 1
            count += GOLDEN
            nodes += rules.views[view, NODE] + rank
            action = (_random_bits(count) >> half) * rules.views[view, ACTIONS] >> half
            mark, view, rank, symmetry = _outcome(rules, view, rank, symmetry, theirs, action)
            mine |= mark
            won = rules.wins[p, mine]
            if won or mine | theirs == rules.full:
                sums[one + p] += won
                break
            if rules.stays and mark == zero:
                continue
            p = one - p
            mine, theirs = theirs, mine
            view, other_view = other_view, view
            rank, other_rank = other_rank, rank
            symmetry, other_symmetry = other_symmetry, symmetry
    random[0] = count
    sums[0] += attempts
    sums[3] += np.int64(nodes)


@bare_kernel
def begin_games(rules, places):
    """Write the empty history to each row of `places`, int64, shape (games, FIELDS)."""
    for g in range(len(places)):
        begin(rules, places[g])


@bare_kernel
def attempt_in_games(rules, places, actions, ended, payoffs):
    """Make `actions` of the movers; games that end start again.

    Written: `ended`, bool, shape (games,), and `payoffs`, float32, the same: of player 0, where a game ended.
    """
    for g in range(len(places)):
        p = places[g, MOVER]
        how = attempt(rules, places[g], actions[g])
        ended[g] = how != GOES_ON
        payoffs[g] = 0
        if how == WON:
            payoffs[g] = 1 if p == 0 else -1
        if ended[g]:
            begin(rules, places[g])


@bare_kernel
def look_at_games(rules, places, movers, infosets, counts, squares):
    """Write the movers' observations.

    Written: `movers`; `infosets`, the mover's node numbers; `counts`, the number of actions; all int64, shape (games,);
    and `squares`, int64, shape (games, A): the square of each action on the board.
    """
    for g in range(len(places)):
        p = places[g, MOVER]
        view, symmetry = places[g, VIEW + p], places[g, SYMMETRY + p]
        movers[g] = p
        infosets[g] = np.int64(rules.views[view, NODE]) + places[g, RANK + p]
        counts[g] = np.int64(rules.views[view, ACTIONS])
        for a in range(counts[g]):
            squares[g, a] = rules.inverse[symmetry, rules.square[view, a]]


# ---------------------------------------------------------------------------------------------
# Traversals


class Tables(NamedTuple):
    """What traversals read and write: numbers for both players' sequences.

    Attributes
    ----------
    regrets, sums : float64 (sequences of both players,)
        Sums of regrets and of strategies; player 1's begin at `second`.
    baselines : float32, the same shape
        Expected payoffs of player 0 after an action; may be empty.
    second
        Number of player 0's sequences.
    """

    regrets: Any
    sums: Any
    baselines: Any
    second: int


class Options(NamedTuple):
    """The variant of a learner.

    Attributes
    ----------
    power
        Iteration t has the weight ``t^power``.
    floor
        Whether sums of regrets below zero are set to zero.
    explored
        The uniform part of the player's draws in outcome sampling.
    rate
        The rate at which baselines follow.
    """

    power: float
    floor: bool
    explored: float
    rate: float


@piece
def _match(regrets, first, orders, actions, policy):
    """Regret matching: probabilities in proportion to the positive parts."""
    total = 0.0
    for a in range(actions):
        policy[a] = max(np.float64(regrets[first + a * orders]), 0.0)
        total += policy[a]
    for a in range(actions):
        policy[a] = policy[a] / total if total > 0 else 1.0 / actions


class Scratch(NamedTuple):
    """Work space of a traversal: a row for each depth of its history.

    Attributes
    ----------
    places : int64 (D, FIELDS)
    infosets : int64 (D, 3)
        First sequence, distance to the next action's, number of actions.
    turns : int64 (D, 2)
        The next action, and the end of the actions.
    policies, chances, values : float64 (D, A)
        Of the actions: the strategy, the chances of draws, and the values found.
    """

    places: Any
    infosets: Any
    turns: Any
    policies: Any
    chances: Any
    values: Any


def scratch_of(squares):
    """Work space for a board with this number of squares."""
    depths = 2 * squares + 2
    rows = [np.zeros((depths, squares)) for _ in range(3)]
    numbers = [np.zeros((depths, width), np.int64) for width in (FIELDS, 3, 2)]
    return Scratch(*numbers, *rows)


@piece
def _arrive(rules, tables, scratch, depth, counted):
    """Find the infoset of a history and its strategy; return the mover."""
    counted[0] += 1
    place, infoset = scratch.places[depth], scratch.infosets[depth]
    p = place[MOVER]
    first, orders, actions = first_sequence(rules, place)
    infoset[0], infoset[1], infoset[2] = first + p * tables.second, orders, actions
    _match(tables.regrets, infoset[0], orders, actions, scratch.policies[depth])
    return p


@piece
def _go(rules, scratch, depth, action):
    """Write the history after an action into the next row; return its end."""
    for k in range(FIELDS):
        scratch.places[depth + 1, k] = scratch.places[depth, k]
    return attempt(rules, scratch.places[depth + 1], action)


@bare_kernel
def external(rules, tables, player, scratch, options, weight, random, counted):
    """A traversal of external sampling (Lanctot et al. 2009, section 4.2); returns an estimate of `player`'s value.

    It follows all actions at the player's infosets, and updates regrets.  At the opponent's infosets it draws one, and
    adds the strategy to the sums.

    Parameters
    ----------
    weight
        Of added regrets and strategies.
    counted
        int64, shape (1,): the number of visited histories is added.
    """
    # Numba's cache does not keep recursive functions, so `scratch` serves as the stack.
    turns, policies, values = scratch.turns, scratch.policies, scratch.values
    begin(rules, scratch.places[0])
    depth, arrived, value = 0, True, 0.0
    while True:
        infoset, policy = scratch.infosets[depth], policies[depth]
        # Arrived from above: at the player's infoset all actions are still to follow, at the opponent's a drawn one.
        if arrived:
            p = _arrive(rules, tables, scratch, depth, counted)
            turns[depth, 0], turns[depth, 1] = 0, infoset[2]
            if p != player:
                drawn = _pick(policy, infoset[2], random)
                turns[depth, 0], turns[depth, 1] = drawn, drawn + 1
                # The opponent's own draws led here with the chance of their reach, which is the weight in their average
                # strategy.
                for a in range(infoset[2]):
                    tables.sums[infoset[0] + a * infoset[1]] += weight * policy[a]
        else:
            # Back from below: keep the value of that action, and turn to the next.
            values[depth, turns[depth, 0]] = value
            turns[depth, 0] += 1
        # Downward: follow the next action. Where it ends the game, its value is the payoff of `player`.
        p = scratch.places[depth, MOVER]
        if turns[depth, 0] < turns[depth, 1]:
            ended = _go(rules, scratch, depth, turns[depth, 0])
            arrived = ended == GOES_ON
            if arrived:
                depth += 1
            else:
                counted[0] += 1
                value = 0.0 if ended == DRAWN else (1.0 if p == player else -1.0)
            continue
        # All actions are done: the value of the infoset, and the regrets against it. At the opponent's infoset the
        # value of the drawn action stands for all: its chance is the policy's.
        if p == player:
            value = 0.0
            for a in range(infoset[2]):
                value += policy[a] * values[depth, a]
            for a in range(infoset[2]):
                at = infoset[0] + a * infoset[1]
                regret = tables.regrets[at] + weight * (values[depth, a] - value)
                tables.regrets[at] = max(regret, 0.0) if options.floor else regret
        # Upward, to the history before.
        if depth == 0:
            return value
        depth -= 1
        arrived = False


@bare_kernel
def outcome(rules, tables, player, scratch, options, weight, random, counted):
    """A traversal of outcome sampling: one game; returns an unbiased estimate of player 0's value.

    Actions are drawn with the chances ``explored / actions + (1 - explored) policy`` at the player's infosets, and with
    the policy at the opponent's.  With baselines ``b`` (Schmid et al. 2019, equations 9 to 11; without any, ``b`` is
    zero, and this is Lanctot et al. 2009, section 4.1), from the end of the game upward::

        value(a)  =  b(a) + [a is drawn] (value after a - b(a)) / chance of a,     value  =  sum of policy(a) value(a)
        regret(a) +=  weight (value(a) - value) / (chance of the player's own draws before)
        b(drawn)  +=  rate (value after it - b(drawn))

    The chance of the opponent's draws is the opponent's reach, and so cancels out of the regrets.  At the opponent's
    infosets the strategy is added to the sums, divided by the chance of the player's own draws before.
    """
    infosets, policies, chances, turns = scratch.infosets, scratch.policies, scratch.chances, scratch.turns
    begin(rules, scratch.places[0])
    depth, ended, own = -1, GOES_ON, 1.0
    # Downward: one game. Each depth keeps its policy, chances and drawn action, for the way back.
    while ended == GOES_ON:
        depth += 1
        p = _arrive(rules, tables, scratch, depth, counted)
        actions, share = infosets[depth, 2], options.explored if p == player else 0.0
        # The player explores; the opponent draws by the policy alone.
        for a in range(actions):
            chances[depth, a] = share / actions + (1 - share) * policies[depth, a]
        drawn = _pick(chances[depth], actions, random)
        turns[depth, 0] = drawn
        # The chance of the player's own draws before this infoset divides its regrets, and the opponent's strategies.
        scratch.values[depth, 0] = own
        if p == player:
            own *= chances[depth, drawn]
        else:
            for a in range(actions):
                tables.sums[infosets[depth, 0] + a * infosets[depth, 1]] += weight * policies[depth, a] / own
        ended = _go(rules, scratch, depth, drawn)
    # The last mover has won, or nobody; values are those of player 0.
    counted[0] += 1
    after = 0.0 if ended == DRAWN else (1.0 if p == 0 else -1.0)
    known = len(tables.baselines) > 0
    # Upward, from the end of the game.
    while depth >= 0:
        first, orders, actions = infosets[depth, 0], infosets[depth, 1], infosets[depth, 2]
        p, drawn, own = scratch.places[depth, MOVER], turns[depth, 0], scratch.values[depth, 0]
        # value(drawn) is corrected by its baseline; the other actions have their baselines as values. So `expected` is
        # the sum of policy(a) value(a).
        base = np.float64(tables.baselines[first + drawn * orders]) if known else 0.0
        corrected = base + (after - base) / chances[depth, drawn]
        expected = policies[depth, drawn] * corrected
        for a in range(actions if known else 0):
            if a != drawn:
                expected += policies[depth, a] * tables.baselines[first + a * orders]
        # Regrets of the player: values are player 0's, hence the sign.
        if p == player:
            sign = (1.0 if p == 0 else -1.0) * weight / own
            for a in range(actions):
                at = first + a * orders
                value = corrected if a == drawn else (np.float64(tables.baselines[at]) if known else 0.0)
                regret = tables.regrets[at] + sign * (value - expected)
                tables.regrets[at] = max(regret, 0.0) if options.floor else regret
        # The baseline of the drawn action follows the value after it.
        if known:
            tables.baselines[first + drawn * orders] += options.rate * (after - base)
        after = expected
        depth -= 1
    return after


@bare_kernel
def fixed_sampling(rules, tables, player, scratch, options, weight, random, counted):
    """A traversal of ESCHER (McAleer et al. 2023, algorithm 2): one game, without importance sampling.

    Actions are drawn uniformly at the player's infosets, and by the policy at the opponent's.  So each infoset's
    sampling weight is the opponent's reach times a constant, which matters neither to regret matching nor to an
    average.  With learned expected values ``q`` of actions, given that the infoset is reached, from the end of the game
    upward::

        value  =  sum of policy(a) q(a)
        regret(a)  +=  weight (q(a) - value)
        q(drawn)  +=  rate (value of the player's next infoset, or the payoff  -  q(drawn))

    The infoset's history is drawn with the opponent's reach, so values of infosets replace the paper's values of
    histories: the expectation of ``q(a) - value`` over its histories is the same.  At the opponent's infosets the
    strategy is added to the sums.

    Returns
    -------
    float
        The value of the player's first infoset, for player 0.
    """
    infosets, policies, turns = scratch.infosets, scratch.policies, scratch.turns
    begin(rules, scratch.places[0])
    depth, ended = -1, GOES_ON
    # Downward: one game. The player draws uniformly whatever the policy is; the opponent draws by the policy and adds
    # it to the sums.
    while ended == GOES_ON:
        depth += 1
        p = _arrive(rules, tables, scratch, depth, counted)
        actions = infosets[depth, 2]
        if p == player:
            turns[depth, 0] = np.int64(draw(random) * actions)
        else:
            turns[depth, 0] = _pick(policies[depth], actions, random)
            for a in range(actions):
                tables.sums[infosets[depth, 0] + a * infosets[depth, 1]] += weight * policies[depth, a]
        ended = _go(rules, scratch, depth, turns[depth, 0])
    # The last mover has won, or nobody. `after` is what the player's last drawn action led to.
    counted[0] += 1
    after = 0.0 if ended == DRAWN else (1.0 if p == 0 else -1.0)
    sign = weight if player == 0 else -weight
    # Upward through the player's infosets; those of the opponent only pass `after` on.
    for at_depth in range(depth, -1, -1):
        if scratch.places[at_depth, MOVER] == player:
            first, orders, actions = infosets[at_depth, 0], infosets[at_depth, 1], infosets[at_depth, 2]
            # The regrets, from the learned q alone: no chance of a draw divides them.
            expected = 0.0
            for a in range(actions):
                expected += policies[at_depth, a] * tables.baselines[first + a * orders]
            for a in range(actions):
                at = first + a * orders
                regret = tables.regrets[at] + sign * (tables.baselines[at] - expected)
                tables.regrets[at] = max(regret, 0.0) if options.floor else regret
            # q(drawn) moves towards what came after, and the infoset's value with the new q is passed up.
            at = first + turns[at_depth, 0] * orders
            change = options.rate * (after - tables.baselines[at])
            tables.baselines[at] += change
            after = expected + policies[at_depth, turns[at_depth, 0]] * change
    return after


@bare_kernel
def external_iterations(rules, tables, scratch, begun, iterations, options, random, counted):
    """Iterations of external sampling after the first `begun`: a traversal for each player."""
    for t in range(begun + 1, begun + iterations + 1):
        for player in range(2):
            external(rules, tables, player, scratch, options, np.float64(t) ** options.power, random, counted)


@bare_kernel
def outcome_iterations(rules, tables, scratch, begun, iterations, options, random, counted):
    """Iterations of outcome sampling; see :func:`external_iterations`."""
    for t in range(begun + 1, begun + iterations + 1):
        for player in range(2):
            outcome(rules, tables, player, scratch, options, np.float64(t) ** options.power, random, counted)


@bare_kernel
def fixed_iterations(rules, tables, scratch, begun, iterations, options, random, counted):
    """Iterations of ESCHER; see :func:`external_iterations`."""
    for t in range(begun + 1, begun + iterations + 1):
        for player in range(2):
            fixed_sampling(rules, tables, player, scratch, options, np.float64(t) ** options.power, random, counted)
