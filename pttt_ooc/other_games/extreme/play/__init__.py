"""Games of people against bots, which run behind the same walls and limits as in a match.

Modules: ``moves`` (moves and boards as text), ``terminal`` (a game on a terminal), ``bot_game`` (a game in the
background), ``past_game`` (one of before the server was started), ``games`` (the games of all people), ``game_file``
(their database), ``kept_games`` (the latest game of each person), ``shared_games`` (games with a link for everybody),
``opponents`` (whom people may play), ``answerer`` (the process that runs the bots: the web process runs none).
"""
