"""The shell of the one web application: one head, one look, one way to sign in.

A :class:`~pttt_ooc.web.parts.Part` plugs in with its addresses, templates, files and entries of the navigation;
the shell knows none of them.
"""
