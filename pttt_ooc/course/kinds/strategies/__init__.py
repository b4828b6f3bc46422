"""Submitted strategies: validated, evaluated, explored, and played against.

Modules: ``validation``: is it a strategy? ``assessor``: one strategy on its own. ``baseline``: the uniform strategy as
a team. ``value``: the value of the game. ``sources``: which strategies a visitor may see. ``mistakes``: where a
submission loses. ``web_process``: the pages of a course, with those of the wings beside them.
"""
