"""The command ``pttt``.

Modules: ``commands`` gathers its groups, one module each (``games``, ``plan``, ``strategies``, ``inspection``,
``solutions``, ``servers``, ``play``), with ``display`` and ``console`` behind them.
``sections``: the configuration of the workflow, with the sections of all wings.
``wings``: wings whose pages stand beside others, in one ``webserver``.
"""
