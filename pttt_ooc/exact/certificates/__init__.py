"""Exact values as fractions, and certificates that prove them.

Modules: ``equilibrium``: an exact pair and its certificate.  ``integer_program``, ``rational_optimum``,
``rational_system``: the vertex of a restricted game's program, in fractions; ``inside_optimum``: a point inside of
its optimal face.  ``behaviours``: behaviours with integer weights.  ``integer_plan``, ``integer_response``: plans
written out without symmetry, and best responses to them.  ``known_infosets``: what such a search has found.
``limbs``: large integers for kernels.  ``certificate``: the file, and what it proves.  ``sparse_plans``: its plans as
sparse plans, which answer questions.
"""
