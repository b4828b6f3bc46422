"""Data on disk and memory budgets: files, locks, manifests, Zarr stores, commits.  Nothing here knows of games."""
