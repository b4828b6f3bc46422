"""Agents that learn from games against themselves.

``training``: the two tables of values of the report on reinforcement learning, and how they are trained.
``policies``: their files.  ``patterns``: an evaluation by patterns on lines, learnt by TD(lambda).  ``commands``:
``pttt arena train`` and ``train-patterns``.
"""
