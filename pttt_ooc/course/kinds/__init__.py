"""What teams can submit: strategies of the course's game, and bots of a league."""
