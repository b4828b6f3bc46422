"use strict";
// The best response to a plan, in integers: the most that the responder can get, over the plan's denominator.

function bestResponse(certificate, player, tell = () => {}) {
  const { full, squares, classical } = certificate;
  const wins = certificate.won[player], loses = certificate.won[1 - player];
  const bits = Array.from({ length: squares }, (_, square) => 1 << square);
  const seen = new Map();
  let visited = 0;

  // What an attempt brings.  `later(infosets, own, tried)` is what comes when the responder moves next.
  function attempt(infosets, own, tried, bit, later) {
    const failed = [], free = [];
    for (const infoset of infosets) (infoset.own & bit ? failed : free).push(infoset);
    let value = classical ? later(failed, own, tried | bit) : reply(failed, own, tried | bit, later);
    if (!wins[own | bit]) return value + reply(free, own | bit, tried, later);
    for (const infoset of free) value += infoset.weight;
    return value;
  }

  // The opponent moves at infosets of their plan.
  function reply(infosets, own, tried, later) {
    const reached = [], todo = [...infosets];
    let value = 0n;
    for (let k = 0; k < todo.length; k++) {
      const infoset = todo[k];
      if ((own | infoset.own) === full) continue; // a draw
      for (const action of infoset.actions) {
        if (own & action.bit) (classical ? todo : reached).push(action.failed);
        else if (loses[infoset.own | action.bit]) value -= action.weight;
        else if ((own | infoset.own | action.bit) !== full) reached.push(action.placed);
      }
    }
    return value + later(reached, own, tried);
  }

  // A responder who sees the opponent's infosets from here on gets the best of each.
  function see(infosets, own, tried) {
    let value = 0n;
    for (const infoset of infosets) {
      const key = (infoset.number * 1024 + own) * 1024 + tried;
      let best = seen.get(key);
      if (best === undefined) {
        for (const bit of bits) {
          if ((own | tried) & bit) continue;
          const found = attempt([infoset], own, tried, bit, see);
          if (best === undefined || found > best) best = found;
        }
        seen.set(key, best);
      }
      value += best;
    }
    return value;
  }

  // A responder who sees nothing needs one attempt for all infosets.  Who sees more can do the same, so no attempt
  // brings more than its bound; once a bound is not above the best, no later attempt is better.
  function respond(infosets, own, tried) {
    if (!infosets.length) return 0n;
    visited += 1;
    if (visited % 500 === 0) tell(visited);
    const bounded = bits.filter((bit) => !((own | tried) & bit)).map((bit) => ({
      bit,
      bound: attempt(infosets, own, tried, bit, see),
    }));
    bounded.sort((one, other) => (one.bound < other.bound ? 1 : one.bound > other.bound ? -1 : 0));
    let best;
    for (const { bit, bound } of bounded) {
      if (best !== undefined && bound <= best) break;
      const value = attempt(infosets, own, tried, bit, respond);
      if (best === undefined || value > best) best = value;
    }
    return best;
  }

  const start = [certificate.plans[1 - player]];
  return { value: player === 0 ? respond(start, 0, 0) : reply(start, 0, 0, respond), visited };
}

function fraction(above, below) {
  let [a, b] = [above < 0n ? -above : above, below];
  while (b) [a, b] = [b, a % b];
  return below === a ? `${above / a}` : `${above / a}/${below / a}`;
}

// Everything: the last message is {proven} or {refused}.
async function check(bytes, tell) {
  try {
    const certificate = new Certificate(await unzipped(bytes), (line, lines) => tell({ stage: "read", line, lines }));
    tell({ rules: certificate.lines.slice(1, 5) });
    const found = [];
    for (const player of [1, 0]) {
      found[player] = bestResponse(certificate, player, (visited) => tell({ stage: `respond ${player}`, visited }));
      tell({ stage: `done ${player}`, visited: found[player].visited });
    }
    const lower = fraction(-found[1].value, certificate.plans[0].weight);
    const upper = fraction(found[0].value, certificate.plans[1].weight);
    const proven = `${lower} <= value <= ${upper}`;
    if (proven !== certificate.claim) throw new Refused(`line 6: the plans prove ${proven}, not this claim`);
    tell({ proven });
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    tell({ refused: error.message });
  }
}
