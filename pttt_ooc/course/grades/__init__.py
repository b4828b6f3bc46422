"""Points and grades, computed anew from what was handed in and decided.

Modules: ``work``: what teams have handed in, of all kinds. ``gradebook``: grades and their history. ``decisions``:
marks, adjustments, extensions, the release; hidden, withdrawn, disqualified. ``rejudging``: judging again, with dry
runs. ``exports``: for other programs. ``overview``: what is due and what counts. ``course_file``: course.yaml.
``checkup``, ``diagnosis``: what needs attention, and what is damaged. ``search``, ``downloads``: finding submissions,
and all of them as one zip. ``similarity``: submissions that are alike.
"""
