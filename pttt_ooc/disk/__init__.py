"""Data on disk and memory budgets: files, locks, manifests, Zarr stores, commits.  Nothing here knows of games.

Modules: ``files``: files and directories that are whole or not there. ``rights``: who may read files. ``outputs``:
where commands may write. ``locks``. ``manifests``. ``store``: Zarr arrays, mapped or compressed. ``commits``, with its
``snapshot_record``: the solver's state that survives a kill. ``resources``: time and memory. ``stop_signals``: when a
process is to stop. ``memory``: needs against a budget, and workspaces.
"""
