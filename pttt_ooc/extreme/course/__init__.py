"""The tournament of a course, beside its grader: the grader's teams hand in bots, a worker checks and plays them.

``league`` (its settings, and where it is kept), ``bots`` (what was handed in, in a database), ``receiving`` (uploads),
``handing`` (pages and addresses), ``parts`` (these beside a grader's), ``worker`` (the process that checks bots and
plays the tournament), ``processes`` (it and the analyst).  The web process never runs a bot.
"""
