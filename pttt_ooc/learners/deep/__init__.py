"""Deep learners: networks observe infosets, and thousands of games are played side by side.

They need JAX, the extra ``deep``.

Modules: ``network``: the network, and the optimiser. ``observation``: the input of a network, and its strategy at all
infosets. ``game_batches``: whole games side by side, and both players' decisions. ``learner``: the common base class,
and remembered decisions. ``loss_functions``: the losses of networks.

``policy_gradient``: PPO and magnetic mirror descent in self-play. ``magnet``: NashPG and EMAgnet. ``phasic``: phasic
policy gradient. ``fictitious``: neural fictitious self-play. ``regularised``: regularised Nash dynamics. ``psro``: PSRO
with learned responses. ``escher``: regrets without importance sampling.
"""
