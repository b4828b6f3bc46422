"""The compiled part of the research.

Players: ``alphabeta``: alpha-beta as strong programs do it.  ``mcts``: Monte Carlo tree search.  ``extreme_search``:
the strong player of Extreme.  ``line_patterns``: an evaluation of k-in-a-row.  ``ultimate_plain``, ``ultimate_learnt``,
``ultimate_network``: evaluations of Ultimate for these searches; ``ultimate_self_play``: games to learn from.

K-in-a-row: ``open_lines``: the lines that count in the Maker-Breaker form, and pairs of squares that prevent lines;
``maker_breaker``: that form; ``solving``: alpha-beta and proof-number search.

Ultimate: ``ultimate_endings``: exact values, and wins within so many plies, by alpha-beta.  ``ultimate_proofs``:
whether a player can force a win, by proof-number search.
"""
