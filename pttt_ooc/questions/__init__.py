"""Questions to a pair of strategies: what happens at an infoset, why, and where it loses.

Modules: ``answers``: the answers, as plain data. ``infoset_parser``: infosets as people type them. ``places``: where an
infoset is in an index. ``histories``: all of an infoset, and what follows. ``profile``: a pair, prepared. ``infoset``:
its numbers. ``continuations``: replies. ``sampled_games``: games. ``beliefs``: what a player knows of the board.
``mirror_merge``: an infoset with its mirror images. ``losses``: what each infoset costs a strategy; ``ranking``: the
worst, up to symmetry; ``mistakes``: the exploitability, made up of them. ``warm_up``: its kernels, which only those who
ask compile.
"""
