"""Many runs of the workflow side by side: games x update rules x precisions, and the page that compares them.

Modules: ``pipeline`` (the section of the configuration, and the run of each combination), ``report`` (the page, and a
table for other programs).

Snakemake runs them all: each combination is a named run, made by the workflow's own rules.
"""
