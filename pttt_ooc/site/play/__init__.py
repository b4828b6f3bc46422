"""Games that people play on the pages of all wings.

Modules: ``database_file``, ``database``: an SQLite database. ``game_store``: games with an owner, their quotas and
expiry, links for everybody. ``answers``: to forms. ``owners``: the owner of a request's games. ``player_view``:
squares as players see them. ``review``: of a finished game in which both players see everything.
"""
