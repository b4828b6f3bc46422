"""The web application on this machine.

``service/``: processes, their logs, and the sockets between them.  ``shell/``: the application, which knows none of its
parts.  ``play/``: the games that people play.  ``explore/``: the pages Explore, Mistakes and Play, and the same on a
terminal.
"""
