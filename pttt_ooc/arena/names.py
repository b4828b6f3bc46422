"""The games and agents of the arena, and where they are.  It imports nothing."""

GAMES = {"ultimate": "Ultimate", "extreme": "Extreme", "mnk": "Mnk", "infinite": "Infinite"}
"""The class of each game, in the module of the game's name."""

AGENTS = {
    "table": "learnt.ValueTable",
    "patterns": "learnt.Patterns",
    "random": "simple.Random",
    "file": "simple.File",
    "minimax": "searching.Minimax",
    "alphabeta": "searching.AlphaBeta",
    "expectimax": "searching.Expectimax",
    "mcts": "growing.TreeSearch",
    "tuned": "tuned.Tuned",
    "qtable": "qlearning.QTable",
    "qfeatures": "qlearning.QFeatures",
}
"""The module and class of each agent."""
