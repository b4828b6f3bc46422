"""The compiled part of the arena.

Rules as pieces of kernels (see :mod:`pttt_ooc.other_games.arena.games.base`), a module for each game: ``ultimate``,
``extreme``, ``mnk``, ``infinite``; ``rows``: what the last two share; ``state_words``: the first words of all states.

Searches for any rules: ``minimax``, ``alphabeta``, ``mcts``; ``search_control`` and ``clock`` bound them;
``late_moves``: what ``alphabeta`` searches less deeply.
``extreme_search``: a strong player of ``extreme``.  ``extreme_values``: the heuristic of the tournament's example.
``solving``: alpha-beta and proof-number search for k-in-a-row; ``maker_breaker``: its Maker-Breaker form;
``open_lines``: the lines that count there; ``line_pairs``: pairs of squares that prevent lines.
``ultimate_endings``: exact values of endings.
``ultimate_learnt``, ``ultimate_network``: learnt evaluations of Ultimate; ``ultimate_self_play``: games to learn from.
``forced_win``: whether the first player of Ultimate can force a win within so many plies.  ``ultimate_proofs``: whether
a player of Ultimate can force a win, by proof-number search.

``perft``: perft and random play.  ``rng``: random numbers.  ``value_table``, ``line_patterns``: learners.
"""
