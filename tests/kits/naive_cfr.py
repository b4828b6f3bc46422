"""The independent reference of the solver: every update rule, infoset by infoset, from its paper's formulas.

A walk over all histories gives counterfactual values, as the textbooks define them; the rest is arithmetic on
dictionaries.  Nothing is shared with the package but the rules of the game.

One iteration t = 1, 2, ... of a player is: counterfactual regrets r against the opponent's current strategy; new sums
of regrets R; the next strategy; the sum of realization plans, which gets the next strategy's.
"""

from collections import defaultdict

from tests.kits import naive


def discount(t, exponent):
    """The weight t^a / (t^a + 1) of Brown and Sandholm 2019, section 4; 0 for t = 0, where nothing is discounted."""
    return t**exponent / (t**exponent + 1) if t else 0.0


def positive(x):
    return max(x, 0.0)


def step(rule, t, R, r, alpha=None, beta=None, asymmetry=2, horizon=1000):
    """New sum of regrets of an action, and what its next probability is proportional to."""
    if rule == "cfr":  # Zinkevich et al. 2007, equations 7 and 8
        return R + r, positive(R + r)
    if rule == "cfr+":  # Tammelin 2014, equations 1 and 2
        return positive(R + r), positive(R + r)
    if rule == "linear-cfr":  # Brown and Sandholm 2019, section 3: sums of regrets times t / (t + 1) after iteration t
        return R * (t - 1) / t + r, positive(R * (t - 1) / t + r)
    if rule in ("dcfr", "hs-dcfr"):  # the same, section 4; schedules: Zhang et al. 2024, equation 4
        a, b = (1.5, 0) if rule == "dcfr" else (1 + 3 * (t - 1) / horizon, -1 - 2 * (t - 1) / horizon)
        a, b = a if alpha is None else alpha, b if beta is None else beta
        new = R * (discount(t - 1, a) if R > 0 else discount(t - 1, b)) + r
        return new, positive(new)
    if rule in ("pcfr+", "hs-pcfr+"):  # Farina et al. 2021, section 4.1: prediction r
        return positive(R + r), positive(positive(R + r) + r)
    if rule == "pdcfr+":  # Xu et al. 2024, section 4
        new = positive(R * discount(t - 1, 2.3) + r)
        return new, positive(new * discount(t, 2.3) + r)
    if rule == "sapdcfr+":  # the two together
        new = positive(R * discount(t - 1, 2.3) + r)
        return new, positive(new * discount(t, 2.3) + r / (1 + asymmetry))
    if rule == "sapcfr+":  # Meng et al. 2025, section 4: implicit sum R, explicit sum R + r / (1 + asymmetry)
        return positive(R + r), positive(positive(R + r) + r / (1 + asymmetry))
    raise KeyError(rule)


def weight(rule, t, counted, gamma=None, horizon=1000):
    """What the sum of realization plans is multiplied by before that of iteration t is added, the n-th that counts."""
    authors = {"cfr": 0, "cfr+": 1, "linear-cfr": 1, "dcfr": 2, "pcfr+": 2, "pdcfr+": 5, "sapcfr+": 2, "sapdcfr+": 2}
    exponent = authors.get(rule, 30) if gamma is None else gamma
    if rule.startswith("hs-"):  # Zhang et al. 2024, equation 4; 15 in place of 30 is their other variant
        exponent -= 5 * (t - 1) / horizon
    return ((counted - 1) / counted) ** exponent


def regrets(game, player, strategies):
    """Counterfactual regrets of every infoset of `player`, by square."""
    values = {text: defaultdict(float) for text in naive.infosets(game, player)}

    def walk(history, opponent_reach):
        """Expected payoff of `player`, times the opponent's reach."""
        if history.is_terminal():
            return history.returns()[player] * opponent_reach
        mover = history.player
        text = history.nodes[mover]
        total = 0.0
        for square in history.legal():
            probability = strategies[mover][text][square]
            if mover == player:
                worth = walk(history.attempt(square), opponent_reach)
                values[text][square] += worth
                total += probability * worth
            elif probability > 0:
                total += walk(history.attempt(square), opponent_reach * probability)
        return total

    walk(naive.History.start(game), 1.0)
    found = {}
    for text, of_square in values.items():
        legal = naive.legal_squares(game, text)
        expected = sum(strategies[player][text][s] * of_square[s] for s in legal)
        found[text] = {s: of_square[s] - expected for s in legal}
    return found


def zeros(game, player):
    return {text: dict.fromkeys(naive.legal_squares(game, text), 0.0) for text in naive.infosets(game, player)}


def match(game, text, wanted):
    """Probabilities proportional to `wanted`, or all the same if nothing is wanted."""
    total = sum(wanted.values())
    legal = naive.legal_squares(game, text)
    return [(wanted[s] / total if total > 0 else 1 / len(legal)) if s in legal else 0.0 for s in range(game.squares)]


def solve(game, rule, iterations, updates="alternating", restarts=(), **parameters):
    """Sums of regrets and average strategies of both players, by text, after some iterations.

    `restarts`: iterations that begin a new average, in which the count of the weights begins at 1.
    """
    gamma, horizon = parameters.pop("gamma", None), parameters.get("horizon", 1000)
    current = [naive.uniform(game, p) for p in (0, 1)]
    sums, R = ([zeros(game, p) for p in (0, 1)] for _ in range(2))
    begun = 0
    for t in range(1, iterations + 1):
        if t in restarts:
            begun = t - 1
        if updates == "simultaneous":
            found = [regrets(game, p, current) for p in (0, 1)]
        for p in (0, 1):
            mine = found[p] if updates == "simultaneous" else regrets(game, p, current)
            following = {}
            for text in R[p]:
                wanted = {}
                for s, r in mine[text].items():
                    R[p][text][s], wanted[s] = step(rule, t, R[p][text][s], r, **parameters)
                following[text] = match(game, text, wanted)
            current[p] = following
            factor = weight(rule, t, t - begun, gamma, horizon)
            for text, row in sums[p].items():
                own = naive.reach(game, p, text, following)
                for s in row:
                    row[s] = row[s] * factor + own * following[text][s]
    average = [{text: match(game, text, row) for text, row in sums[p].items()} for p in (0, 1)]
    return R, average
