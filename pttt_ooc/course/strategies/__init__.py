"""Strategies that teams submit: checked, judged exactly, and compared.

Modules: ``submissions``: taking in, finding and listing them. ``assessor``: whether a file is a strategy, its
evaluation, and values of matches. ``judging``: from the queue to the verdict. ``worker``: judges one after the other.
``processes``: the answerer of Explore and Play. ``game_facts``: the value of the game, the order of rows.
``likeness``: strategies that play alike. ``certificates``: what a team's best strategies are proven to guarantee.
``certificate_process``: makes one. ``starter_kit``: what a student needs first. ``kit_process``: makes it.
``figures``: numbers and pictures of the pages.
"""
