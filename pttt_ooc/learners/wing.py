"""The learners, as a wing."""

from pttt_ooc.service.wing import Wing

WING = Wing(
    "learners",
    "pttt_ooc.learners.commands",
    "pttt_ooc.learners.settings:LearnersConfig",
    stages="pttt_ooc.learners.runs:STAGES",
)
