"""A bot that plays any valid move, each as likely as the others."""

import random


class TeamRandom:
    """The least that a bot has: a class without parameters, with a method ``move``."""

    def __init__(self):
        self.generator = random.Random()

    def move(self, board, old_move, flag):
        """Return the cell to mark: big board, row, column."""
        return self.generator.choice(board.find_valid_move_cells(old_move))
