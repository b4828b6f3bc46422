"""What `import pttt_ooc` gives to researchers: games, strategies, solutions, and their evaluation.

Modules: ``games``: named and custom games. ``structures``: indices and engines, once for each process.
``strategies``: indexed by infosets; ``policies``: functions as strategies. ``solutions``: loading and solving;
``solver_session``: an algorithm step by step. ``values``: evaluation, best responses, comparisons.
``infoset_arrays``: mixtures, reach, gradients, marks. ``profiles``: questions about a pair of strategies.
``openspiel``: the bridge. ``strategy_names``, ``strategy_reader``, ``plan_reader``: strategies named by a file, a
directory or a word, and the kept support of an equilibrium.
"""
