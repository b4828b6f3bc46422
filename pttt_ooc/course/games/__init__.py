"""Further games of a course: each has a directory of its own, as a course of that game alone has, with a worker.

Teams, people, dates and grades are the course's.  A further game's database has a copy of the teams, and the strategies
with their verdicts.

Modules: ``directory``: where it is, and whose teams it has. ``intake``: how strategies are taken in. ``pages``: pages
and addresses. ``certificates``: those of a team's best pair in a further game. ``exploring``: Explore
and Play of further games. ``processes``: the workers and answerers.
"""
