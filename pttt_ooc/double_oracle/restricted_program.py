"""The linear program of a restricted game: exact plans."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pttt_ooc.double_oracle.restricted_histories import Plans, WonHistories
from pttt_ooc.double_oracle.sparse_plan import SparsePlan
from pttt_ooc.solving.linear_program import SequenceForm, equilibrium


def exact_plans(plans: Plans, won: WonHistories) -> list[NDArray[np.float64]]:
    """The reach of each player's sequences in an equilibrium of the restricted game.

    Raises
    ------
    PtttError
        If the linear program cannot be solved.
    """
    from scipy import sparse

    forms = [_sequence_form(plan) for plan in plans]
    shape = [len(form.classes) for form in forms]
    entries = won.first.astype(np.int64) + 1, won.second.astype(np.int64) + 1
    _, found = equilibrium(forms[0], forms[1], sparse.csr_matrix((won.payoffs, entries), shape=shape))
    return [variables[1:] for variables in found]


def _sequence_form(plan: SparsePlan) -> SequenceForm:
    """Variable 0 is the empty sequence, and variable s + 1 the sequence s."""
    from scipy import sparse

    infosets, sequences = plan.counts
    leads = plan.infosets[:sequences]
    used = np.flatnonzero(np.bincount(leads, minlength=infosets))
    row = np.zeros(infosets, np.int64)
    row[used] = np.arange(len(used)) + 1
    rows = np.concatenate([[0], row[leads], row[used]])
    columns = np.concatenate([[0], np.arange(sequences) + 1, plan.before[used].astype(np.int64) + 1])
    signs = np.concatenate([np.ones(1 + sequences), -np.ones(len(used))])
    sums = sparse.csr_matrix((signs, (rows, columns)), shape=(len(used) + 1, sequences + 1))
    return SequenceForm(np.arange(sequences + 1), sums)
