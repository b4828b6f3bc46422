"""Beyond the reports: stronger players, trained evaluations, engines of other people, solved boards and proofs.

``kernels/``: compiled code.  ``players/``: agents.  ``solvers/``: perfect play, and the commands of research.
"""
