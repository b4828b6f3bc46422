"""Perfect play: of k-in-a-row on small boards, and of Ultimate tic-tac-toe.

``lines``: the lines and symmetries of a board of k-in-a-row.  ``values``: the value of a position, by alpha-beta with a
table and by proof-number search.  ``maker_breaker``: draws even if the second player's rows do not count;
``draw_proofs``: proofs of them.  ``pairings``: draws by pairing strategies, with certificates.  ``enumeration``: all
games and positions of a very small board.

Of Ultimate: ``endings``: positions from games by lot, with the value of each move.  ``error_meter``: how often agents
keep it.  ``move_ratings``: what the moves of a game lost; ``rating_cache``: remembers it for pages.  ``attack``: how
far back from their ends games are solved.  ``forced_win``: the win with open boards.  ``claims``: what players can
force, with proofs.

``commands``: of all these.
"""
