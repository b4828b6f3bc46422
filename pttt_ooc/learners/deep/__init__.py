"""Deep learners: a network sees an infoset, and thousands of games are played side by side.

They need JAX, the extra ``deep``.  ``network``: the one network, and the optimiser. ``observation``: what a network
sees, and its strategy at all infosets. ``game_batches``: whole games side by side, and what both players decided in
them. ``learner``: what all have in common. ``memory``: decisions that are remembered. ``losses``: what networks are
fitted to.

``gradient``: PPO and magnetic mirror descent in self-play. ``fictitious``: neural fictitious self-play.
``regularised``: regularised Nash dynamics. ``oracle``: PSRO with learned responses. ``escher``: regrets without
importance sampling.
"""
