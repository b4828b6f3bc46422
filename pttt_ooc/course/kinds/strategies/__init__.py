"""Submitted strategies: validated, evaluated, explored, and played against.

Modules: ``validation``: whether a file is a strategy. ``assessor``: the evaluation of a strategy. ``verdicts``: the
verdict that one would get now. ``baseline``: the team Uniform. ``orders``: the order of rows. ``starter_kit``: what a
student needs first. ``value``: the value of the game. ``certifier``: has certificates made, each in a
``certificate_process``. ``sources``: the strategies that a team may see. ``mistakes``: where a submission loses.
``likeness``: how much two strategies differ. ``parts``: the pages Explore and Play of a course, which ask the answerer
of ``processes``.
"""
