"""The tournament in the browser: standings, matches move by move, and statistics for teams.

The web process imports no numerics and runs no bot: the course's worker plays, and the analyst evaluates positions.
``tournament_reader`` (a tournament on disk), ``part`` (the pages), ``exports`` (JSON and CSV), ``board_values``
(boards and curves).
"""
