"""The command ``pttt``.

Modules: ``commands`` gathers the groups of commands, one module each (``games``, ``plan``, ``strategies``,
``inspection``, ``score``, ``solutions``, ``exact``, ``equilibria``, ``proof``, ``servers``); ``display`` and
``console`` print.
``sections``: the configuration of the workflow, with the sections of all wings. ``workflow_arguments``: arguments of
Snakemake that it leaves without a sentence; ``workflow_copy``: its files in another directory.
``wings``: the list of all wings, and their pages beside others. ``site``: everything in a directory as one site;
``home_cards``: the cards of its home.
"""
