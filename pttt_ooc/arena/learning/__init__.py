"""Agents that learn from games against themselves.

``training``: two tables of values, trained as in the report on reinforcement learning.
``policies``: their files.  ``patterns``: an evaluation by patterns on lines, learnt by TD(lambda).  ``commands``:
``pttt arena train`` and ``train-patterns``.
"""
