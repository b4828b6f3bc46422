"""The tournament in the browser: standings, matches move by move, and statistics for teams.

The web process imports no numerics and runs no bot: the course's worker plays, and the analyst evaluates positions.
``tournament_reader`` (tournament and practice on disk), ``part`` (the pages), ``practice_pages`` (practice before the
tournament), ``play_pages`` (games of people against bots), ``exports`` (JSON and CSV).
"""
