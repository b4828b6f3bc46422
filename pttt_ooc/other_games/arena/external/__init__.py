"""Engines of other people, as processes.

``line_process``: a process that is asked by lines, and its processor time.  ``positions``: positions of Ultimate
tic-tac-toe as text.  ``protocols``: what is said to an engine, and how its answer is read.
"""
