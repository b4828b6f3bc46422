"""Agents of the arena's games: Python files with a function, judged by games against the assignment's opponents.

Modules: ``settings``: what an assignment of agents has of its own. ``tables``: agents and their matches in the
database. ``walled_agent``: an agent in a game of the arena, behind walls. ``judging``: the check, and the games that
make the score. ``verdicts``: the verdict as columns. ``queue``: those without one. ``head_to_head``: matches of the
teams' agents. ``standings``: each team's agent, and its rank. ``intake``: how files are taken in. ``pages``: pages and
addresses. ``worker``: judges, and plays the head-to-head. ``processes``: whether it runs.
"""
