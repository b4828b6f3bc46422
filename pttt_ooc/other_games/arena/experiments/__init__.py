"""Many matches with a question: experiments, round robins and trainings, and what is claimed of them.

Modules: ``experiment``, ``round_robin``, ``trainings``: the three kinds. ``pipeline``: their stages in the workflow.
``significance``: intervals and tests. ``claims_table``: whether claims hold, and their tables. ``records``: rows that
are kept. ``report``: the page.
"""
