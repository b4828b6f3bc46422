"""Stages of the workflow after the solve: ``findings``, ``equilibria``, and ``report``, with its ``pictures``."""
