"""Questions about a pair of strategies: what happens at an infoset, why, and where a strategy loses.

Modules: ``answers``: the answers, as plain data.  ``histories``: all histories of an infoset.  ``profile``: a prepared
pair of strategies.  ``infoset``: the numbers of an infoset, the outcomes of attempts, and what the player knows about
the board.  ``sampled_games``: random games.  ``mirror_merge``: an infoset with its mirror images.  ``losses``: what
each infoset costs a strategy; ``infoset_ranking``: the largest losses, up to symmetry; ``mistakes``: the exploitability
as a sum of losses.  ``plan_pair``: the same for two sparse plans, without a list of infosets.
"""
