"""A term: assignments with dates, people, what counts, points and grades.

``dates``, ``choice``, ``expressions`` and ``rules`` are pure.  ``tables`` keeps decisions, which are never changed: the
latest one holds.  ``gradebook`` computes all grades anew from what was handed in and decided, and writes down those
that have changed.

Modules: ``dates``, ``choice``, ``expressions``, ``rules``, ``tables``; ``assignments`` and ``work`` (what teams have
handed in), ``people``, ``invitations`` (links that can be used once), ``self_service`` (teams of students' making),
``memberships`` (who was in which team), ``late_days`` (who pays with them), ``passwords``, ``account_pages``,
``openid`` and ``openid_pages`` (signing in by the university), ``decisions``,
``audit`` (the log), ``gradebook``, ``exports``; ``course_file`` (course.yaml), ``retrial`` (judging again),
``checkup`` (what needs attention), ``diagnosis`` (what is damaged), ``commands``, ``people_commands``,
``grade_commands``; ``overview`` and ``pages`` (what people see), ``rights`` (the table of who may do what),
``reports`` (taking them in), ``publication`` (static pages).  About submissions: ``search``, ``rulings`` and
``disqualified``, ``rejudging`` and ``rehearsals`` (dry runs), ``similar``, ``downloads``, ``pairing``; ``desk_pages``,
``desk_commands`` and ``team_pages``.  ``deliveries``: announcements on their way.
"""
