"use strict";
// The best response to a plan.  Amounts are weights of the plan: whole numbers, over its denominator.
//
// The responder knows only their own attempts.  A position has these and a group: the infosets of the plan at which the
// other player may be meanwhile.  What a response wins is the weight of what it beats, minus the weight of what beats it.

class BestResponse {
  constructor(certificate, responder, tell = () => {}) {
    this.rules = certificate;
    this.responder = responder;
    this.root = certificate.plans[1 - responder];
    this.tell = tell;
    this.visited = 0;
    this.far = 4n * this.root.weight; // more than any difference of amounts
    this.ceilings = new Map(); // for each infoset of the plan, by the responder's marks
    this.shown = new Map(); // what positions were shown to bring at most
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

  // The most that they can get from their first turn on, if the certificate claims a single value; else null.
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

  // What follows an attempt: in all, what is decided until the responder moves again, and the two positions then;
  // `ways` has both for the failure and for the success alone.
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
  // infoset of the group alone.  They may also choose alike for all, so this is never too low.
  ceiling({ group, marks }) {
    let sum = 0n;
    for (const infoset of group) sum += this.ceilingAt(infoset, marks);
    return sum;
  }

  // Who sees the plan's marks needs no misses of their own: to attempt such a square passes the turn, which may be done
  // again, or brings nothing at all.
  ceilingAt(infoset, marks) {
    let known = this.ceilings.get(infoset);
    if (!known) this.ceilings.set(infoset, (known = new Map()));
    if (!known.has(marks)) {
      const alone = { group: [infoset], marks, misses: this.rules.classical ? infoset.own : 0 };
      const amounts = this.attempts(alone).map((bit) => {
        const { decided, later } = this.afterAttempt(alone, bit);
        return later.reduce((sum, position) => sum + this.ceiling(position), decided);
      });
      known.set(marks, largest(amounts));
    }
    return known.get(marks);
  }

  // The most that the responder can get; or, if that is not above `need`, a number from there to `need`.
  //
  // Depth first.  An attempt is searched only if its ceiling is above what is needed and above the best so far, and each
  // amount of a part of it replaces a ceiling.  Nothing is searched that another order of attempts has led to and shown
  // not to be above what is needed.
  search(position, need = -this.far) {
    if (!position.group.length) return 0n;
    const key = `${position.marks} ${position.misses} ${position.group.map((infoset) => infoset.number).join()}`;
    const shown = this.shown.get(key);
    if (shown !== undefined && shown <= need) return shown;
    this.visited += 1;
    if (this.visited % 100 === 0) this.tell(this.visited);
    const choices = this.attempts(position).map((bit) => {
      const { decided, later } = this.afterAttempt(position, bit), parts = later.map((next) => this.ceiling(next));
      return { decided, later, parts, top: decided + parts[0] + parts[1] };
    });
    choices.sort((one, other) => Number(one.top < other.top) - Number(one.top > other.top));
    let most = -this.far;
    for (const { decided, later, parts, top } of choices) {
      const goal = largest([most, need]);
      if (top > goal)
        later.forEach((next, n) => {
          const missing = goal - decided - parts[1 - n];
          if (parts[n] > missing) parts[n] = this.search(next, missing);
        });
      most = largest([most, decided + parts[0] + parts[1]]);
    }
    this.shown.set(key, most);
    return most;
  }
}

function largest(amounts) {
  return amounts.reduce((one, other) => (other > one ? other : one));
}
