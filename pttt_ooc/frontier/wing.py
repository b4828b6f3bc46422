"""The wing beyond enumeration, as a wing."""

from pttt_ooc.service.wing import Wing

WING = Wing("frontier", section="pttt_ooc.frontier.settings:FrontierConfig", stages="pttt_ooc.frontier.pipeline:STAGES")
