"""Secret goals in the browser: the solution at any position, and matches against it.

The web process imports no numerics: it asks the ``answerer``, a process with the solution, through the
``answerer_client``.  ``part``: the pages.  ``matches``: people's matches, in a database.  ``views``: what pages show.
"""
