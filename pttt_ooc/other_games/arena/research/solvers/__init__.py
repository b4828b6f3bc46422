"""Perfect play: of k-in-a-row on small boards, and of Ultimate tic-tac-toe.

``row_boards``: the lines and symmetries of a board of k-in-a-row, and all games of a very small one.  ``row_values``:
the value of a position, by alpha-beta with a table and by proof-number search, and draws even if the second player's
rows do not count.  ``draw_proofs``: proofs of these.  ``pairings``: draws by pairing strategies, with certificates.

Of Ultimate: ``endings``: positions from games by lot, the value of each move, and how often agents keep it.
``claims``: what players can force, with proofs: in endings, and with open boards.  ``attack``: how far back from their
ends games are solved.  ``move_ratings``: what the moves of a game lost.

``row_commands``: of k-in-a-row.  ``commands``: of all others, and of trainings.
"""
