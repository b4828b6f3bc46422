"""What `import pttt_ooc` gives to researchers: games, strategies, solutions, and their evaluation.

Modules: ``games``: named and of one's own making. ``structures``: indices and engines, once for each process.
``strategies``: indexed by infosets; ``policies``: functions that they are made from. ``solutions``: loaded and solved;
``solver_session``: an algorithm step by step. ``values``: evaluation, best responses, comparisons. ``profiles``:
questions to two strategies. ``openspiel``: the bridge. ``strategy_names``, ``strategy_reader``: strategies as a person
names them.
"""
