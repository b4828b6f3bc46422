"""The games of the arena, in Python.

``base``: the base class.  ``catalogue``: games by their names.  Each game has a module of its name, and its rules are
in the module of the same name in ``arena/kernels/``.
"""
