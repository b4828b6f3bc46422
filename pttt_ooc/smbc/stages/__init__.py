"""Stages of the workflow after the solve: ``finding``, ``bounding``, and ``reporting``, which has ``pictures``."""
