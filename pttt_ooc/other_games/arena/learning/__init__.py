"""Agents that learn from games against themselves.

``training``: two tables of values, trained as in the report on reinforcement learning.
``policies``: their files.  ``patterns``: an evaluation by patterns on lines, learnt by TD(lambda).  ``ultimate``: an
evaluation of Ultimate tic-tac-toe, with shipped weights.  ``ultimate_network``: the same with a neural network, which
``experiments.ultimate_training`` trains.  ``weights``: files of weights.  ``commands``: ``pttt arena
train``, ``train-patterns`` and ``train-ultimate``.
"""
