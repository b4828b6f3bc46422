"""The games and agents of the arena, and where they are.  It imports nothing."""

GAMES = {"ultimate": "Ultimate", "extreme": "Extreme", "mnk": "Mnk", "infinite": "Infinite"}
"""The class of each game, in the module of the game's name."""

AGENTS = {
    "table": "agents.value_tables.ValueTable",
    "patterns": "research.players.patterns.PatternAgent",
    "random": "agents.basic.Random",
    "file": "agents.basic.File",
    "engine": "research.players.engine.Engine",
    "minimax": "agents.minimax.Minimax",
    "alphabeta": "agents.minimax.AlphaBeta",
    "expectimax": "agents.minimax.Expectimax",
    "mcts": "research.players.mcts.TreeSearch",
    "tuned": "research.players.tuned.Tuned",
    "strong": "research.players.strong.Strong",
    "qtable": "agents.qlearning.QTable",
    "qfeatures": "agents.qlearning.QFeatures",
}
"""The module and class of each agent, below the arena."""
