"""Points and grades, computed anew from what was handed in and decided.

Modules: ``work``: what teams have handed in, of all kinds. ``gradebook``: grades and their history. ``decisions``:
marks, adjustments, extensions, the release. ``rulings``: hidden, withdrawn, disqualified. ``rejudging``,
``rehearsals``, ``retrial``: judging again, with dry runs, and here and now. ``exports``: for other programs.
``overview``: what is due and what counts. ``course_file``: course.yaml. ``checkup``, ``diagnosis``: what needs
attention, and what is damaged. ``search``, ``downloads``: finding submissions, and all of them as one zip.
``similar``, ``code_likeness``: submissions that are alike. ``pairing``: pairs of a team's own strategies.
"""
