"""What people play and own on the pages of all wings.

Modules: ``database`` in its ``database_file``: what people play. ``game_store``: games with an owner, how many there
may be, and how long they are kept. ``owners``: whose browser it is.
"""
