"""Games of people against bots, which run behind the same walls and limits as in a match.

Modules: ``terminal`` (a game on a terminal), ``bot_game`` (a game in the background), ``game_store`` (the database),
``games`` (the games of all people), ``answerer`` (the process that runs the bots: the web process runs none).
"""
