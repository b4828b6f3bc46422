"""The compiled part of the arena.

Rules as pieces of kernels (see :mod:`pttt_ooc.other_games.arena.games.base`), a module for each game: ``mnk``,
``infinite``, ``ultimate``, ``extreme``; ``state_words``: the first words of all states; ``rows``, ``small_boards``:
what two of them share.  ``ultimate_values``, ``extreme_values``: the heuristics of the report on Ultimate, and of the
tournament's example.

For any rules: ``minimax``: the searches of the report, bounded by ``clock``; ``transposition_table``: what alpha-beta
remembers.  ``qlearning``, ``value_table``: the learners of the reports.  ``perft``: perft and random play.  ``rng``:
random numbers.
"""
