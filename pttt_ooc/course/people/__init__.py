"""Teams, students and staff: who they are, how they sign in, what they may do, how they get news.

Modules: ``teams``: teams, their tokens, and other names on public pages. ``people``: staff and students. ``rights``:
who may do what. ``accounts``: all of these for the web application. Ways to sign in: ``sessions`` of browsers,
``passwords``, ``openid`` by a university, ``invitations`` by links that can be used once. ``self_service``: teams of
students' making. ``post``: announcements by e-mails and webhooks.
"""
