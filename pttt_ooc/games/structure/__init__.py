"""The structure of a game: views, orders, indices of nodes and sequences, timing operators, strategies on them.

Modules: ``views``: pairs of views. ``orders``: ranking of orders. ``relabelling``: the effect of symmetries on orders.
``index``: numbers of nodes and sequences, parents and children. ``patterns``, ``cells``, ``timing``: the timing
operators, built by ``building``. ``counts``: sizes of games. ``strategy``: a player's probabilities. ``symmetry``:
folding and unfolding strategies. ``infoset_parser``: infosets as people type them. ``infoset_places``: where an infoset
is in an index. ``row_numbers``: its row in the default order, without an index.
"""
