"""Many matches with a question: experiments, round robins and trainings, and what is claimed of them.

Modules: ``experiment``, ``round_robin``, ``trainings``: the three kinds. ``pipeline``: their stages in the workflow.
``significance``: intervals and tests. ``verdicts``: whether a claim holds. ``claims_table``: all claims in one table.
``records``: rows that are kept. ``report``: the page. ``ultimate_training``: a program that trains the networks of
Ultimate tic-tac-toe that are in the package.
"""
