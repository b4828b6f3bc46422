"""Experiments, round robins and trainings, and the claims about them.

Modules: ``experiment``, ``round_robin``, ``trainings``: the three kinds. ``pipeline``: their stages in the workflow.
``significance``: intervals and tests. ``claims_table``: whether claims hold, and their tables. ``records``: compact
records. ``report``: the page.
"""
