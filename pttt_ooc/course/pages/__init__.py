"""The pages and addresses of a course, and how uploads are taken in.

Modules: ``context``: what all requests share. ``handlers``: what all kinds share. ``uploads``: from the network to
the disk. ``pages``: the leaderboard, submissions of strategies. ``rankings``: the leaderboard and the matrix as parts
of pages. ``strategy_sources``, ``strategy_mistakes``: what a team may look at, and where it loses.
``certificate_pages``, ``handout_pages``. ``bot_context``, ``bot_pages``, ``further_bot_pages``: leagues.
``agent_intake``, ``agent_pages``: agents. ``game_intake``, ``game_pages``, ``game_certificates``, ``game_exploring``:
further games. ``report_intake``: reports. ``term_pages``: what is due, and the desk. ``desk_pages``: about
submissions. ``team_pages``: what a team does itself. ``account_pages``, ``openid_pages``: signing in. ``api``,
``schemas``: JSON. ``health``, ``metrics``. ``publication``: the term as static pages.
"""
