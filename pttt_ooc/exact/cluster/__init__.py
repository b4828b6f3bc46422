"""Subtrees of best responses as tasks of Dask, on this machine or on many.

Modules: ``clients``: a client of Dask, for processes of its own or for a running scheduler. ``subtree_runner``: one
round's subtrees as tasks. ``subtree_worker``: what a worker does, with the same program as all others.
"""
