"""Subtrees of best responses as tasks of Dask: processes on this machine, or on many.

Modules: ``clients``: a client of Dask, for processes of its own or for a scheduler that runs. ``subtree_runner``: one
round's subtrees as tasks. ``subtree_worker``: what a worker does, with the same program as all others.
"""
