"""Exact values as fractions, and certificates that prove them.

Modules: ``equilibrium``: an exact pair and its certificate.  ``integer_program``, ``rational_optimum``,
``rational_system``, ``lifted_system``: the vertex of a restricted game's program, in fractions.  ``sparse_behaviour``,
``strategy_behaviour``: behaviours with integer weights.  ``integer_plan``, ``integer_response``: plans written out
without symmetry, and best responses to them.  ``limbs``: large integers for kernels.  ``certificate``,
``certificate_reader``: the file.  ``verification``: what a certificate proves.
"""
