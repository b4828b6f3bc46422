"""Secret goals on a terminal: ``explore``: a solution's strategies and values; ``play``: matches against it."""
