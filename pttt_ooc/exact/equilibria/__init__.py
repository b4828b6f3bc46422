"""Which equilibria there are: the best and the worst of them for an objective, and the best pure strategies.

Modules: ``optimal_face``: the search.  ``face_program``: its linear program.  ``responses``: gradients and best
responses for linear objectives.  ``plan_places``: a sparse plan on an index.  ``supports``: what some equilibrium
plays, and dimensions.  ``choice``: the strategy that wins most against an opponent who errs.  ``openings``: ranges of
the first attempts.  ``pure_maximin``: what a player can guarantee without chance.
"""
