"""Teams, students and staff: who they are, how they sign in, what they may do, how they are told.

Modules: ``teams``: teams and their tokens. ``people``: staff and students. ``rights``: who may do what. ``accounts``:
all of these for the web application. ``sessions``: of browsers. ``passwords``. ``openid``: signing in by a
university. ``invitations``: links that can be used once. ``self_service``: teams of students' making. ``deliveries``:
announcements on their way. ``messenger``: sends them.
"""
