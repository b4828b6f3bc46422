"""Secret goals on a terminal.

Modules: ``commands``: ``pttt smbc ...``. ``explore``: a solution's strategies and values. ``play``: matches against it.
"""
