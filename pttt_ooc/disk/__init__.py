"""Data on disk and memory budgets: files, locks, manifests, Zarr stores, commits.  No module here knows games.

Modules: ``files``: atomic writing of files and directories. ``permissions``: who may read files. ``outputs``: where
commands may write. ``locks``. ``manifests``. ``store``: Zarr arrays, mapped or compressed. ``contents``: digests of
contents, however they are compressed. ``commits`` and ``snapshot_record``: resumable state that survives a kill.
``block_mover``: mapped arrays, piece by piece, in ``piece_buffers``. ``resources``: time and memory.
``stop_signals``: signals that stop a process. ``memory``: memory needs, budgets and workspaces. ``tries``: how often
something was tried and failed. ``numbers``: numbers, times and sizes as text.
"""
