"""What is kept on disk and in memory: files, manifests, Zarr stores, commits, budgets.  Nothing here knows of games."""
