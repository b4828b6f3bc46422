"""Secret goals on a terminal.

Modules: ``board``: of a round. ``commands``: ``pttt smbc ...``. ``explore``: a solution's strategies and values.
``play``: matches against it.
"""
