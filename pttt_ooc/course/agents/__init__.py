"""Agents of the arena's games: Python files with a function, judged by games against the assignment's opponents.

Modules: ``settings``: what an assignment of agents has of its own. ``queue``: those without a verdict. ``worker``:
judges, and plays the head-to-head. ``judging``: the check, and the games that make the score. ``walled_agent``: an
agent in a game, behind walls. ``verdicts``: the verdict as columns. ``head_to_head``: matches of the teams' agents.
``standings``: each team's agent, and its rank. ``processes``: whether the worker runs.
"""
