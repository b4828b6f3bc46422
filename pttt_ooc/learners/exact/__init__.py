"""Exact learners: each step uses the gradients of all sequences.

Modules: ``kernels``: the steps at infosets.  ``fictitious``: fictitious play in extensive form.  ``mirror``: magnetic
mirror descent.  ``regularised``: regularised Nash dynamics.  ``psro``: double oracle over pure strategies (PSRO), and
its meta-solvers.  ``sequence_oracle``: double oracle over sequences, with regret matching, and
``double_oracle``: the lazy one.
"""
