"""Secret goals in the browser: what a solution does at any place, and matches against it.

The web process imports no numerics: it asks the answerer, a process that knows the solution. ``answerer``: that
process.  ``answerer_client``: the web process's way to it.  ``part``: the addresses.  ``explore_address``: what the
page Explore shows.  ``matches``: those of people, kept in a database.  ``player_view``: what a person may know of
one.
"""
