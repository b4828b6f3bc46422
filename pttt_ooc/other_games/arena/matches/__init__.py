"""Matches of the arena: many games of two agents.

``settings``: what a match is.  ``agent_processes``: agents in this process or in one of their own.  ``agent_program``:
the program of such a process.  ``referee``: one game.  ``log``: games on disk, and their replay.  ``runner``: all
games, in parallel.
"""
