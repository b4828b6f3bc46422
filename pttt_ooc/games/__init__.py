"""Games as data, and their trees as columns.

``rules/``: boards, winning sets, turn rules, setups, named games.  ``structure/``: views, orders, the index of nodes
and sequences, timing operators, strategies, symmetry.
"""
