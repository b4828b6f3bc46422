"""Agents of the arena's games: Python files with a function, judged by games against the assignment's opponents.

Modules: ``settings``: those that only assignments of agents have. ``queue``: which agent is judged next. ``worker``:
judges, and plays the head-to-head. ``judging``: the check, and the games of the score. ``walled_agent``: an agent in
a game, behind walls. ``verdicts``: the verdict as columns. ``standings``: each team's agent, its rank, and the matches
of teams against each other. ``processes``: whether the worker runs.
"""
