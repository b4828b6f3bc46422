"""Sampled learners and their environment: histories are played, attempt by attempt, in constant time for each.

Modules: ``kernels``: steps of the state machine.  ``state_machine``: its tables, and many games side by side.
``traversals``: what the learners add on the way. ``mccfr``: Monte Carlo counterfactual regret minimisation, by external
and by outcome sampling, with baselines, and with a fixed sampling policy.
"""
