"""What teams can submit: strategies of the course's game, and bots of a league.

``web_process`` serves the pages of the course and of both kinds.
"""
