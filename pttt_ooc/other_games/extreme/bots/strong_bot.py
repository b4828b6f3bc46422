"""The bot to beat: a compiled alpha-beta search on bitboards, with a table of positions and bonus moves searched.

It is in the course's form, but its search is a part of this package, which bots of strangers do not see.
"""


class TeamStrong:
    """A bot that thinks for nearly a second about each move.

    Attributes
    ----------
    seconds
        For each move.
    deepest
        Plies; no search goes deeper.
    """

    seconds = 0.9
    deepest = 162

    def __init__(self):
        from pttt_ooc.other_games.arena.research.players.strong import Searcher
        from pttt_ooc.other_games.extreme.search import ready

        self.searcher = ready(Searcher())

    def move(self, board, old_move, flag):
        """Return the cell to mark: big board, row, column."""
        state = self.searcher.game.position(board.big_boards_status, board.small_boards_status, old_move, flag)
        move = self.searcher.choose(state, self.seconds, self.deepest)
        print("depth", self.searcher.depth, "nodes", self.searcher.nodes, "value", self.searcher.value)
        return (move // 81, move % 81 // 9, move % 9)
