"""The games and agents of the arena, and where they are.  It imports nothing."""

GAMES = {"ultimate": "Ultimate", "extreme": "Extreme", "mnk": "Mnk", "infinite": "Infinite"}
"""The class of each game, in the module of the game's name."""

AGENTS = {
    "table": "trained.ValueTable",
    "patterns": "trained.PatternAgent",
    "random": "basic.Random",
    "file": "basic.File",
    "engine": "engine.Engine",
    "minimax": "minimax.Minimax",
    "alphabeta": "minimax.AlphaBeta",
    "expectimax": "minimax.Expectimax",
    "mcts": "mcts.TreeSearch",
    "tuned": "alphabeta.Tuned",
    "strong": "extreme_strong.Strong",
    "qtable": "qlearning.QTable",
    "qfeatures": "qlearning.QFeatures",
}
"""The module and class of each agent."""
