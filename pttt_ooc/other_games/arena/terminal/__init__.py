"""The arena on a terminal.

Modules: ``commands``: ``pttt arena ...``. ``play_commands``: those in which a person plays.
"""
