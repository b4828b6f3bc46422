"""Sweeps, as a wing."""

from pttt_ooc.service.wing import Wing

WING = Wing("sweep", section="pttt_ooc.grid.settings:SweepConfig")
