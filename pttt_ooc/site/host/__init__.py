"""A place where programs play: in any language by HTTP, or by the Model Context Protocol (MCP).

What an agent may know of a match is made in ``match_view`` only, from its own infoset, the result and the clock.

Modules: ``wing``: the host as pages of the local server. ``game_rules``: the rules of a game in sentences.
``match_view``: what leaves the server. ``tokens``: agents and their tokens. ``match_rows``: matches in the database.
``waiting``: agents that wait for each other. ``matches``: beginning and playing them, against the clock.
``standings``: the table of agents. ``meetings``: what agents got from each other. ``host_api``: JSON. ``host_pages``:
the page. ``mcp_tools``, ``mcp_http``, ``mcp_stdio``: the same for clients of MCP. ``part``: all of it
as a part of the web application.
"""
