"""Submitted strategies: validated, evaluated, explored, and played against.

Modules: ``validation``: is it a strategy? ``assessor``: one strategy on its own. ``baseline``: the uniform strategy as
a team. ``value``: the value of the game. ``sources``: which strategies a visitor may see. ``mistakes``: where a
submission loses. ``parts``: the pages Explore and Play of a course, which ask the answerer of ``processes``.
"""
