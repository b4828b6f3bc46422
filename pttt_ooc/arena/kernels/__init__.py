"""The compiled part of the arena.

Rules as pieces of kernels (see :mod:`pttt_ooc.arena.games.base`), a module for each game: ``ultimate``, ``extreme``,
``mnk``, ``infinite``.  ``rng``: random numbers.  ``perft``: perft and random play, for any rules.
``extreme_search``: a strong player of ``extreme``.  ``solving``: alpha-beta and proof-number search for k-in-a-row.
``value_table``, ``line_patterns``: learners.
"""
