"""Many runs of the workflow side by side: games x update rules x precisions, and the page that compares them.

Modules: ``settings`` (the section of the configuration), ``cells`` (the run of each combination),
``comparison`` (the page, and a table for other programs), ``wing`` (the wing describes itself).

Snakemake runs them all: a cell of the grid is a named run, made by the workflow's own rules.
"""
