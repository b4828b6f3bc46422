"""Agents that learn from games against themselves.

``training``: the two tables of values of the report on reinforcement learning, and how they are trained.  ``policies``:
their files.  ``command``: ``pttt arena train``.
"""
