"use strict";
// Answers about an infoset: what the equilibrium plays there, where the other player's marks are, what each attempt is
// worth.  Numbers are fractions: two whole numbers, in lowest terms.
//
// A value is what the player wins on average from there, with the best play against the other player's equilibrium.

// "|4*0." as attempts; null if it is no such text.
function attemptsOf(text) {
  if (!/^\|([0-9a-f][*.])*$/.test(text)) return null;
  return [...text.matchAll(/([0-9a-f])([*.])/g)].map(([, digit, outcome]) => {
    const square = parseInt(digit, 16);
    return { square, bit: 1 << square, placed: outcome === "*" };
  });
}

class Questions {
  constructor(certificate) {
    this.rules = certificate;
    this.responses = [0, 1].map((player) => new BestResponse(certificate, player));
  }

  // What the rules say of some attempts with these outcomes: whether they can happen, and whether the player then has
  // a turn again.
  fate(player, attempts) {
    const { full, squares, classical, won } = this.rules;
    let others = new Set([0]), own = 0, tried = 0, happens = true, decides = true; // the other's marks and misses
    if (player === 1) others = this.othersAfterTurn(1 - player, others, own);
    for (const { square, bit, placed } of attempts) {
      happens = decides && square < squares && !(tried & bit);
      others = new Set([...others].filter((other) => Boolean(other & bit) !== placed));
      happens &&= others.size > 0;
      tried |= bit;
      if (placed) own |= bit;
      if (won[player][own]) others = new Set();
      else if (placed || !classical) others = this.othersAfterTurn(1 - player, others, own);
      decides = happens && others.size > 0 && tried !== full;
    }
    return { happens, decides };
  }

  // All that the other player may have after a turn: marks, and 65536 times the squares on which they failed.
  othersAfterTurn(player, others, taken) {
    const { full, classical, won } = this.rules;
    const moving = new Set(others), after = new Set();
    for (const other of moving) {
      const marks = other & 65535, misses = Math.floor(other / 65536);
      if ((marks | taken) === full) continue; // nobody has won on the full board
      for (let bit = 1; bit <= full; bit <<= 1) {
        if ((marks | misses) & bit) continue;
        if (taken & bit) (classical ? moving : after).add(other + 65536 * bit);
        else if (!won[player][marks | bit] && (marks | taken | bit) !== full) after.add(other + bit);
      }
    }
    return after;
  }

  // The infoset of the player's own plan; null if the plan never comes there.
  ownInfoset(player, attempts) {
    let infoset = this.rules.plans[player];
    for (const { bit, placed } of attempts) {
      const action = infoset?.actions.find((one) => one.bit === bit);
      infoset = action?.[placed ? "placed" : "failed"] ?? null;
    }
    return infoset;
  }

  // Where the other player's plan may be meanwhile.
  position(player, attempts) {
    const response = this.responses[player];
    let position = response.start().position;
    for (const { bit, placed } of attempts) position = response.afterAttempt(position, bit).later[placed ? 1 : 0];
    return position;
  }

  // All but the values; null if it is no infoset of the player.
  facts(player, text) {
    const attempts = attemptsOf(text);
    if (!attempts || !this.fate(player, attempts).decides) return null;
    const own = this.ownInfoset(player, attempts), position = this.position(player, attempts);
    const reached = weightOf(position.group), root = this.rules.plans;
    const legal = this.responses[player].attempts(position);
    const share = (group, whole = reached) => inLowestTerms(weightOf(group), whole);
    const boards = new Map();
    for (const infoset of position.group) boards.set(infoset.own, (boards.get(infoset.own) ?? 0n) + infoset.weight);
    return {
      player,
      text,
      legal: legal.map((bit) => Math.log2(bit)),
      marks: attempts.filter(({ placed }) => placed).map(({ square }) => square),
      misses: attempts.filter(({ placed }) => !placed).map(({ square }) => square),
      ownReach: own ? inLowestTerms(own.weight, root[player].weight) : [0n, 1n],
      othersReach: share(position.group, root[1 - player].weight),
      probabilities:
        own && Object.fromEntries(own.actions.map((one) => [one.square, inLowestTerms(one.weight, own.weight)])),
      beliefs: reached
        ? Array.from({ length: this.rules.squares }, (_, square) =>
            share(position.group.filter((infoset) => (infoset.own >> square) & 1))
          )
        : null,
      boards: [...boards]
        .sort(([one, weight], [other, more]) => Number(weight < more) - Number(weight > more) || one - other)
        .map(([marks, weight]) => [marks, inLowestTerms(weight, reached)]),
      outcomes: legal.flatMap((bit) => this.outcomes(player, attempts, position, bit)),
    };
  }

  // What may come of an attempt: it fails, or the mark is placed.
  outcomes(player, attempts, position, bit) {
    const response = this.responses[player], reached = weightOf(position.group);
    const { ways } = response.afterAttempt(position, bit);
    return [false, true].flatMap((placed) => {
      const { happens, decides } = this.fate(player, [...attempts, { square: Math.log2(bit), bit, placed }]);
      if (!happens) return [];
      const here = weightOf(position.group.filter((infoset) => Boolean(infoset.own & bit) !== placed));
      const { decided, group } = ways[placed ? 1 : 0], returns = weightOf(group);
      const [wins, loses] = decided > 0n ? [decided, 0n] : [0n, -decided];
      const shares = [returns, wins, here - returns - wins - loses, loses];
      return {
        square: Math.log2(bit),
        placed,
        decides,
        probability: reached ? inLowestTerms(here, reached) : null,
        then: here ? shares.map((part) => inLowestTerms(part, here)) : null,
      };
    });
  }

  // The value of each attempt, one after the other; none where the other player's plan never comes.
  *values(player, text) {
    const attempts = attemptsOf(text), position = this.position(player, attempts), response = this.responses[player];
    const reached = weightOf(position.group), played = this.ownInfoset(player, attempts)?.actions ?? [];
    if (!reached) return;
    // Both plans are an equilibrium: all that is played is as good as the best.  At first, the claim tells what that is.
    let best = attempts.length ? null : response.claimedAmount();
    for (const bit of response.attempts(position)) {
      const known = played.some((one) => one.bit === bit);
      const amount = known && best !== null ? best : response.amountAfter(position, bit);
      if (known) best = amount;
      yield { square: Math.log2(bit), value: inLowestTerms(amount, reached) };
    }
  }
}

function weightOf(group) {
  return group.reduce((sum, infoset) => sum + infoset.weight, 0n);
}

// For workers: the messages are questions, and only the newest one is answered to its end.  A question is for some
// infosets of a player; of each come the facts and then, one after the other, the values.
function hearQuestions() {
  const known = {};
  let newest = null;
  onmessage = async ({ data }) => {
    const { number, name, content, player, texts } = data;
    newest = number;
    known[name] ??= unzipped(bytesOf(content)).then((text) => new Questions(new Certificate(text)));
    const questions = await known[name];
    const goesOn = async (message) => {
      postMessage({ number, ...message });
      await new Promise((resume) => setTimeout(resume)); // another question may have come
      return number === newest;
    };
    if (number !== newest) return;
    for (const text of texts) {
      const facts = questions.facts(player, text);
      if (!(await goesOn({ text, facts }))) return;
      for (const found of facts ? questions.values(player, text) : []) if (!(await goesOn({ text, ...found }))) return;
    }
    postMessage({ number, done: true });
  };
}
