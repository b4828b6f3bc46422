"""The structure of a game: views, orders, indices of nodes and sequences, timing operators, strategies on them."""
