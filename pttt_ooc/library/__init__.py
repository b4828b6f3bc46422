"""The public API and what it answers.

``questions/``: questions about a pair of strategies.  ``api/``: ``import pttt_ooc``.  ``eas/``: the interface of
exp-a-spiel.  ``scoring/``: anybody's agent as a strategy, and its exact exploitability.
"""
