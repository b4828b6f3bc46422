"""Names of the files of an export."""

COURSE_FILES = ("player0-infosets.txt", "player1-infosets.txt", "pttt_pl0.zip", "pttt_pl1.zip")
"""The lists of infosets, and the zips with the tensors."""

BUNDLE = "strategies.h5"
