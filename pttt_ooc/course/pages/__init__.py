"""The pages and addresses of a course, and how uploads are taken in.

Modules: ``context``: what all requests share. ``uploads``: from the network to the disk. ``intakes``: what is taken in,
of each kind. ``strategy_pages``: leaderboard, submissions, teams. ``rankings``: the leaderboard and the matrix as parts
of pages. ``strategy_sources``, ``strategy_mistakes``: the strategies a team may see, and where it loses.
``certificate_pages``. ``game_pages``, ``game_exploring``: further games. ``bot_pages``: leagues. ``agent_pages``.
``term_pages``: what is due, and what a team does itself. ``desk_pages``: for people with rights. ``account_pages``,
``openid_pages``: signing in. ``api``, ``schemas``: JSON. ``health``. ``publication``: the term as static pages.
"""
