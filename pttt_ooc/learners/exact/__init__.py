"""Exact learners: each step is made of gradients of all sequences.

``kernels``: what happens at an infoset. ``fictitious``: fictitious play in extensive form. ``mirror``: magnetic mirror
descent. ``regularised``: regularised Nash dynamics. ``oracle``: double oracle over pure strategies (PSRO), with
``metagame``: its meta-solvers. ``sequence_oracle``: double oracle over sequences.
"""
