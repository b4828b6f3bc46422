"""The command ``pttt``.

Modules: ``commands`` gathers the commands at the top, by modules (``games``, ``plan``, ``strategies``, ``inspection``,
``solutions``, ``exact``, ``proof``, ``servers``), and the groups. ``lab``: the group of research, which imports its
commands when they are used: ``score``, ``equilibria``, ``strategy_files``, ``run_checks``, and those of other rooms.
``old_names``: former names, for one release. ``display`` and ``console`` print.
``sections``: the configuration of the workflow, with the sections of all wings. ``workflow_arguments``: sentences on
arguments that Snakemake does not explain; ``workflow_copy``: its files in another directory.
``wings``: the list of all wings, and their pages beside others. ``site``: everything in a directory as one site;
``home_cards``: the cards of its home.
"""
