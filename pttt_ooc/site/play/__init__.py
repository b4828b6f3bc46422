"""Games that people play on the pages of all wings.

Modules: ``bodies``: JSON that programs send and get. ``database_file``: the file of an SQLite database. ``game_store``:
games with an owner, their quotas and expiry, links for everybody. ``owners``: the owner of a request's games, and
answers to their forms. ``review``: squares as players see them, and the review of a finished game in which both see
everything.
"""
