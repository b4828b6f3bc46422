"""Stages of the workflow after the solve: ``findings``, ``equilibria``, and ``report``, which has ``pictures``."""
