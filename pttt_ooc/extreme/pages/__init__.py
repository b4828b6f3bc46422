"""The tournament in the browser: standings, matches to go through, what a team can learn from its matches.

The web process imports no numerics and runs no bot: the course's worker plays, and the analyst looks at matches.
``tournament_reader`` (a tournament as pages know it), ``part`` (the addresses that people see), ``exports`` (the same
as JSON and CSV), ``board_values`` (boards and curves).
"""
