"""Perfect play: of k-in-a-row on small boards, and of endings of Ultimate tic-tac-toe.

``values``: the value of a position, by alpha-beta with a table and by proof-number search.  ``pairings``: draws by
pairing strategies, with certificates.  ``enumeration``: all games and positions of a very small board.  ``endings``:
positions of Ultimate from games by lot, with the value of each move.  ``error_meter``: how often agents keep it.
``forced_win``: the win of Ultimate with open boards, and its certificate.  ``commands``: of these.
"""
