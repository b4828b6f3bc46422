"""The tournament on a terminal.

Modules: ``commands``: ``pttt extreme ...``. ``bot_options``: the options that they share. ``display``: what they print.
"""
