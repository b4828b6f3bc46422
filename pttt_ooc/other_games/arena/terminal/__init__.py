"""The arena on a terminal.

Modules: ``commands``: ``pttt arena ...``. ``play_commands``: those in which a person plays.
``lab_commands``: some of ``pttt lab ...``.
"""
