"""The command ``pttt``.

Modules: ``commands`` gathers its groups, one module each (``games``, ``plan``, ``strategies``, ``inspection``,
``solutions``, ``servers``, ``play``), with ``display`` and ``console`` behind them.
``sections``: the configuration of the workflow, with the sections of all wings.
``wings``: all wings, and the pages of those that stand beside others.
"""
