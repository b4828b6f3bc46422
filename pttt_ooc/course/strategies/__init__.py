"""Strategies that teams submit: checked, judged exactly, and compared.

Modules: ``submissions``: accepting, finding and listing them. ``validation``: whether a file is a strategy. ``jobs``:
judging, from the queue to the verdict. ``worker``: judges one after the other. ``assessor``: the evaluation, and
values of matches. ``verdicts``: the verdict that one would get now. ``value``: the value of the game. ``baseline``:
the team Uniform. ``house``: strategies of the instructors' own. ``pairs``: a team's two strategies together.
``likeness``, ``likenesses``: strategies that play alike. ``certificates``: what a team's best strategies are proven
to guarantee. ``certifier``, ``certificate_process``: make them. ``orders``: the order of rows. ``starter_kit``: what
a student needs first. ``figures``, ``trends``: numbers and pictures of the pages. ``processes``: the answerer of
Explore and Play.
"""
