"""Secret goals in the browser: what a solution does at any place, and matches against it.

The web process imports no numerics: it asks the answerer, a process that knows the solution.
``answerer``: that process.  ``asked``: the web process's way to it.  ``part``: the addresses.  ``view``: what the page
Explore shows.  ``matches``: those of people, kept in ``matches_file``.  ``seat``: what a person may know of one.
``local``, ``localserver``: ``pttt smbc serve``.
"""
