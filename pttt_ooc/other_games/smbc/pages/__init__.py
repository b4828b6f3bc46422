"""Secret goals in the browser: the solution at any position, and matches against it.

The web process imports no numerics: it asks the ``answerer``, a process with the solution, through the
``answerer_client``.  ``part``: the pages.  ``explore_address``: addresses of the page Explore.  ``matches``: people's
matches, in a database.  ``player_view``: a person's view of a match.
"""
