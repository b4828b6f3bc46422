"""Which equilibria there are: the best and the worst of them for an objective.

Modules: ``optimal_face``: the search.  ``face_program``: its linear program.  ``responses``: gradients and best
responses for linear objectives.  ``plan_places``: where a sparse plan is in an index.
"""
