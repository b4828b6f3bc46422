"""Perfect play of k-in-a-row on small boards.

``values``: the value of a position, by alpha-beta with a table and by proof-number search.  ``pairings``: draws by
pairing strategies, with certificates.  ``enumeration``: all games
and positions of a very small board.
"""
