"""Secret goals on a terminal: ``explore``, what a solution does, and ``play``, matches against it."""
