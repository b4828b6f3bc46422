"""The arena on a terminal.

Modules: ``commands`` and ``learning_commands``: ``pttt arena ...``. ``play``: a game of a person against an agent.
"""
