"use strict";
// Reads a certificate, line by line, as docs/files.md describes it.  Sets of squares are numbers with a bit for each;
// in the file, a square is a hexadecimal digit.

const LONGEST = 100000, DENSEST = 100, NOT_WHOLE = "line 0: this is not one whole gzip file";

const NUMBER = "[1-9][0-9]{0,3999}", ACTION = new RegExp(`^([0-9a-f])=(${NUMBER})$`);

class Refused extends Error {}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

// A fraction is two whole numbers, the lower one positive.
function inLowestTerms(above, below) {
  let [divisor, rest] = [above < 0n ? -above : above, below];
  while (rest) [divisor, rest] = [rest, divisor % rest];
  return [above / divisor, below / divisor];
}

function fractionText([above, below]) {
  return below === 1n ? `${above}` : `${above}/${below}`;
}

async function unzipped(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const reader = stream.getReader(), decoder = new TextDecoder("ascii"), pieces = [];
  let size = 0;
  for (;;) {
    let step;
    try {
      step = await reader.read();
    } catch {
      throw new Refused(NOT_WHOLE);
    }
    if (step.done) break;
    size += step.value.length;
    if (size > DENSEST * bytes.length) {
      reader.cancel();
      throw new Refused(`line 0: the file unzips to more than ${DENSEST} times its size`);
    }
    pieces.push(decoder.decode(step.value, { stream: true }));
  }
  // A gzip file ends with the size of its text; some browsers read on if another file follows.
  const last = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (last.byteLength < 4 || last.getUint32(last.byteLength - 4, true) !== size) throw new Refused(NOT_WHOLE);
  return pieces.join("");
}

class Certificate {
  // An infoset: {number, text, own, weight, actions}.  An action: {square, bit, weight, failed, placed}, where the last
  // two are the next infosets, or null.
  constructor(text, tell = () => {}) {
    this.lines = text.split("\n");
    this.number = 0;
    this.tell = tell;
    this.match(/^phantom certificate 1$/, "this is no certificate of version 1");
    this.squares = Number(this.match(/^squares ([1-9]|1[0-6])$/, "squares 1 to 16 must come here")[1]);
    this.turns = this.match(/^turns (abrupt|classical)$/, "turns abrupt or turns classical must come here")[1];
    this.classical = this.turns === "classical";
    this.full = 2 ** this.squares - 1;
    this.won = [0, 1].map((player) => {
      const pattern = new RegExp(`^wins ${player}((?: [0-9a-f]+)*)$`);
      const sets = this.match(pattern, `the winning sets of player ${player} must come here`)[1];
      return this.table(sets.split(" ").slice(1));
    });
    const fraction = `(?:0|-?${NUMBER}(?:/${NUMBER})?)`;
    const claim = new RegExp(`^claim (${fraction} <= value <= ${fraction})$`);
    this.claim = this.match(claim, "the claim must come here")[1];
    this.plans = [0, 1].map((player) => this.plan(player));
    this.match(/^end$/, "the line 'end' must come here");
    if (this.number !== this.lines.length - 1 || this.lines[this.number] !== "") this.refuse("something follows the end");
  }

  refuse(reason) {
    throw new Refused(`line ${this.number}: ${reason}`);
  }

  next() {
    this.number += 1;
    if (this.number > this.lines.length) this.refuse("the file ends before its end");
    const line = this.lines[this.number - 1];
    if (line.length >= LONGEST) this.refuse(`a line has ${LONGEST} characters or more`);
    if (this.number % 2000 === 0) this.tell(this.number, this.lines.length);
    return line;
  }

  match(pattern, reason) {
    return pattern.exec(this.next()) ?? this.refuse(reason);
  }

  table(sets) {
    const won = new Array(this.full + 1).fill(false);
    for (const set of sets) {
      let mask = 0;
      for (const digit of set) {
        const square = parseInt(digit, 16);
        if (square >= this.squares) this.refuse("a winning set is not on the board");
        mask |= 1 << square;
      }
      won[mask] = true;
    }
    // Marks win if they are a winning set, or if all but one of them win.
    for (let marks = 0; marks <= this.full; marks++)
      for (let rest = marks; rest && !won[marks]; rest &= rest - 1) won[marks] = won[marks ^ (rest & -rest)];
    return won;
  }

  plan(player) {
    const header = this.match(
      new RegExp(`^plan ${player} (${NUMBER}) (${NUMBER}) (${NUMBER})$`),
      `plan ${player} must begin here`
    );
    const before = this.number;
    this.actions = 0;
    const root = this.infoset(player, "|", 0, 0, player, BigInt(header[3]));
    if (String(this.number - before) !== header[1] || String(this.actions) !== header[2])
      this.refuse(`plan ${player} has ${this.number - before} infosets and ${this.actions} actions, not what it says`);
    return root;
  }

  infoset(player, text, own, fails, hidden, weight) {
    const [name, ...words] = this.next().split(" ");
    if (name !== text || !words.length) this.refuse(`the infoset ${text} must come here, with its actions`);
    const infoset = { number: this.number, text, own, weight, actions: [] };
    let last = -1, sum = 0n;
    for (const word of words) {
      const parts = ACTION.exec(word) ?? this.refuse("an action must be like 4=17");
      const square = parseInt(parts[1], 16), bit = 1 << square;
      if (square <= last) this.refuse("the squares must rise");
      if (square >= this.squares || (own | fails) & bit) this.refuse(`square ${parts[1]} cannot be attempted`);
      last = square;
      const action = { square, bit, weight: BigInt(parts[2]), failed: null, placed: null };
      sum += action.weight;
      infoset.actions.push(action);
    }
    if (sum !== weight) this.refuse(`the weights do not add up to ${weight}`);
    this.actions += infoset.actions.length;
    for (const action of infoset.actions) {
      const { bit } = action, square = action.square.toString(16), tried = own | fails | bit;
      if (hidden > 0 && tried !== this.full && !this.won[1 - player][fails | bit]) {
        const left = hidden - (this.classical ? 1 : 0);
        action.failed = this.infoset(player, `${text}${square}.`, own, fails | bit, left, action.weight);
      }
      let marks = this.classical ? hidden : 0;
      for (let rest = tried; rest; rest &= rest - 1) marks += 1;
      if (marks < this.squares && !this.won[player][own | bit])
        action.placed = this.infoset(player, `${text}${square}*`, own | bit, fails, hidden + 1, action.weight);
    }
    return infoset;
  }
}
