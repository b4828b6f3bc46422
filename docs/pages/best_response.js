"use strict";
// The best response to a plan.  Amounts are weights of the plan: whole numbers, over its denominator.
//
// The responder knows only their own attempts.  Beside these goes a group: the infosets of the plan at which the other
// player may be meanwhile.  What a response wins is the weight of what it beats, minus the weight of what beats it.

class BestResponse {
  constructor(certificate, responder, tell = () => {}) {
    this.rules = certificate;
    this.responder = responder;
    this.root = certificate.plans[1 - responder];
    this.tell = tell;
    this.visited = 0;
    this.ceilings = new Map(); // for each infoset of the plan, by the responder's squares
  }

  // The most that the responder can get.
  amount() {
    const { decided, position } = this.start();
    return decided + this.search(position);
  }

  // What is decided before the responder's first turn, and the position then.
  start() {
    const first = this.responder === 0;
    const { decided, group } = first ? { decided: 0n, group: [this.root] } : this.afterReply([this.root], 0);
    return { decided, position: { group, marks: 0, misses: 0 } };
  }

  // The most that the responder can get after an attempt.
  amountAfter(position, bit) {
    const { decided, later } = this.afterAttempt(position, bit);
    return later.reduce((sum, next) => sum + this.search(next), decided);
  }

  // The most that they can get from their first turn on, as a certificate claims that has proven one value; or null.
  claimedAmount() {
    const [lower, upper] = this.rules.claim.split(" <= value <= ");
    if (lower !== upper) return null;
    const [above, below = 1n] = lower.split("/").map(BigInt);
    return ((this.responder === 0 ? above : -above) * this.root.weight) / below - this.start().decided;
  }

  // What follows when the plan moves at each infoset of a group: what is decided, and where the plan is then.
  afterReply(group, marks) {
    const { full, classical, won } = this.rules;
    const moving = group.slice(), reached = [];
    let decided = 0n;
    while (moving.length) {
      const infoset = moving.pop();
      if ((marks | infoset.own) === full) continue; // nobody has won on the full board
      for (const { bit, weight, failed, placed } of infoset.actions) {
        if (marks & bit) (classical ? moving : reached).push(failed); // a classical failure keeps the turn
        else if (won[1 - this.responder][infoset.own | bit]) decided -= weight;
        else if ((marks | infoset.own | bit) !== full) reached.push(placed);
      }
    }
    return { decided, group: reached };
  }

  // What follows an attempt: what is decided until the responder moves again, and the two positions of that time;
  // and both for a failure and a success apart.
  afterAttempt({ group, marks, misses }, bit) {
    const { classical, won } = this.rules;
    const taken = group.filter((infoset) => infoset.own & bit), empty = group.filter((infoset) => !(infoset.own & bit));
    const failure = classical ? { decided: 0n, group: taken } : this.afterReply(taken, marks);
    let success = { decided: 0n, group: [] };
    if (won[this.responder][marks | bit]) for (const infoset of empty) success.decided += infoset.weight;
    else success = this.afterReply(empty, marks | bit);
    return {
      ways: [failure, success],
      decided: failure.decided + success.decided,
      later: [
        { group: failure.group, marks, misses: misses | bit },
        { group: success.group, marks: marks | bit, misses },
      ],
    };
  }

  attempts({ marks, misses }) {
    const bits = [];
    for (let bit = 1; bit <= this.rules.full; bit <<= 1) if (!((marks | misses) & bit)) bits.push(bit);
    return bits;
  }

  // No response gets more than this.  From here on the responder may see where the plan is, and so choose for each
  // infoset of the group alone; not looking is one of their choices.
  ceiling(position) {
    let sum = 0n;
    for (const infoset of position.group) sum += this.ceilingAt(infoset, position.marks, position.misses);
    return sum;
  }

  ceilingAt(infoset, marks, misses) {
    let known = this.ceilings.get(infoset);
    if (!known) this.ceilings.set(infoset, (known = new Map()));
    const key = marks * 65536 + misses;
    if (!known.has(key)) {
      const alone = { group: [infoset], marks, misses };
      const amounts = this.attempts(alone).map((bit) => {
        const { decided, later } = this.afterAttempt(alone, bit);
        return later.reduce((sum, position) => sum + this.ceiling(position), decided);
      });
      known.set(key, largest(amounts));
    }
    return known.get(key);
  }

  // Depth first.  The attempts with the highest ceilings come first, and the rest is left out once a ceiling is not
  // above what has been found.
  search(position) {
    if (!position.group.length) return 0n;
    this.visited += 1;
    if (this.visited % 500 === 0) this.tell(this.visited);
    const choices = this.attempts(position).map((bit) => {
      const { decided, later } = this.afterAttempt(position, bit);
      return { decided, later, top: later.reduce((sum, next) => sum + this.ceiling(next), decided) };
    });
    choices.sort((one, other) => Number(one.top < other.top) - Number(one.top > other.top));
    const found = [];
    let most = null;
    for (const { decided, later, top } of choices) {
      if (most !== null && top <= most) break;
      found.push(later.reduce((sum, next) => sum + this.search(next), decided));
      most = largest(found);
    }
    return most;
  }
}

function largest(amounts) {
  return amounts.reduce((one, other) => (other > one ? other : one));
}
