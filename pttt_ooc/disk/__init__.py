"""Data on disk and memory budgets: files, locks, manifests, Zarr stores, commits.  Nothing here knows of games.

Modules: ``files``: files and directories that are whole or not there. ``outputs``: where commands may write.
``locks``. ``manifests``. ``store``: Zarr arrays, mapped or compressed. ``commits``, with its ``record``: the solver's
state that survives a kill. ``resources``: time and memory. ``lives``: when a process is to stop. ``memory``: needs
against a budget, and workspaces.
"""
