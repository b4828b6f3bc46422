"""What teams can submit: strategies of the course's game, bots of a league, and agents of the arena.

``web_process`` serves the pages of the course and of all kinds.
"""
