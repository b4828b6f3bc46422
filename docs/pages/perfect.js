"use strict";
// The computer draws its attempts from the plan of the certificate.  A worker says what yours were worth.

const loaded = {}, scores = {}, asker = new Asker(hear);
let game = null, begun = 0;

async function load(name) {
  if (!loaded[name]) {
    const certificate = new Certificate(await unzipped(bytesOf(CERTIFICATES[name])));
    const plans = certificate.plans.map((root) => {
      const texts = new Map(), todo = [root];
      for (let infoset; (infoset = todo.pop()); ) {
        texts.set(infoset.text, infoset);
        for (const action of infoset.actions) for (const next of [action.failed, action.placed]) if (next) todo.push(next);
      }
      return texts;
    });
    loaded[name] = { certificate, plans };
  }
  return loaded[name];
}

// A whole number from 0 to `limit` - 1, each as likely as the others.
function random(limit) {
  const words = new Uint32Array(Math.ceil(limit.toString(2).length / 32) + 1);
  const range = 1n << BigInt(32 * words.length), most = range - (range % limit);
  for (;;) {
    const drawn = crypto.getRandomValues(words).reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);
    if (drawn < most) return drawn % limit;
  }
}

function drawn(infoset) {
  let left = random(infoset.weight);
  for (const action of infoset.actions) {
    if (left < action.weight) return action.square;
    left -= action.weight;
  }
  throw new Error("the weights do not add up");
}

// A player's attempt: "placed" or "failed"; the game's turn and end are kept.
function attempt(player, square) {
  const { certificate } = game, bit = 1 << square, placed = !(game.marks[1 - player] & bit);
  game.tried[player] |= bit;
  game.texts[player] += `${square}${placed ? "*" : "."}`;
  if (placed) {
    game.marks[player] |= bit;
    if (certificate.won[player][game.marks[player]]) game.winner = player;
    game.over = game.winner !== null || (game.marks[0] | game.marks[1]) === certificate.full;
  }
  if (placed || !certificate.classical) game.turn = 1 - player;
  return placed ? "placed" : "failed";
}

function computerMoves() {
  const computer = 1 - game.human;
  while (!game.over && game.turn === computer) {
    const infoset = game.plans[computer].get(game.texts[computer]), square = drawn(infoset);
    game.thoughts.push({ infoset, square, result: attempt(computer, square) });
  }
}

function humanMoves(square) {
  if (game.over || game.turn !== game.human || (game.tried[game.human] >> square) & 1) return;
  game.asked.push({ text: game.texts[game.human], square });
  const result = attempt(game.human, square), again = !game.over && game.turn === game.human;
  computerMoves();
  let text = result === "placed" ? `Square ${square} is yours.` : `Square ${square} was taken.`;
  if (game.over) text = `${text} ${ending()}`;
  else text += again ? " You attempt again." : " The computer has moved; it is your turn.";
  show(text);
  if (game.over) asker.ask(game.name, game.human, game.asked.map((one) => one.text));
}

function ending() {
  const score = (scores[game.name] ??= [0, 0].map(() => ({ won: 0, drawn: 0, lost: 0 })))[game.human];
  const word = game.winner === null ? "drawn" : game.winner === game.human ? "won" : "lost";
  score[word] += 1;
  return { won: "You have won.", drawn: "It is a draw.", lost: "The computer has won." }[word];
}

async function start(human) {
  const name = part("choice").value, number = ++begun, { certificate, plans } = await load(name);
  if (number !== begun) return; // another game was begun meanwhile
  part("aim").textContent = `Neither of you sees the other's marks; an attempt at a taken square fails. ${rulesOf(name)}`;
  game = { name, certificate, plans, human, marks: [0, 0], tried: [0, 0], texts: ["|", "|"], turn: 0, over: false, winner: null, thoughts: [], asked: [], worth: new Map() };
  computerMoves();
  show(human === 0 ? "You begin: attempt a square." : "The computer has moved; it is your turn.");
}

function show(text) {
  const { human, certificate } = game;
  part("said").textContent = text;
  part("said").className = `said ${!game.over || game.winner === null ? "" : game.winner === human ? "won" : "lost"}`;
  drawBoard(part("board"), game.name, (cell, square) => {
    const bit = 1 << square, mine = game.marks[human] & bit;
    const theirs = game.marks[1 - human] & bit && (game.over || game.tried[human] & bit);
    cell.append(mine ? SIDES[human] : theirs ? SIDES[1 - human] : "");
    cell.className = mine ? "mine" : theirs ? "theirs" : "";
    cell.disabled = game.over || Boolean(game.tried[human] & bit);
    cell.setAttribute("aria-label", `Square ${square}${mine ? ", yours" : theirs ? ", the computer's" : ""}`);
    cell.onclick = () => humanMoves(square);
  });
  const score = scores[game.name]?.[human];
  const [lower, upper] = certificate.claim.split(" <= value <= ").map((fraction) => {
    const [above, below = "1"] = fraction.split("/");
    return Number((BigInt(above) * 10n ** 15n) / BigInt(below)) / 1e15;
  });
  const most = human === 0 ? upper : -lower;
  part("score").textContent =
    (score ? `You as player ${human}: ${score.won} won, ${score.drawn} drawn, ${score.lost} lost. ` : "") +
    `With a win as 1 and a loss as \u22121, nobody can get more than ${most.toFixed(6).replace("-", "\u2212")} a game as player ${human}.`;
  review();
}

// After the game: what your attempts were worth, and what the computer knew.
function review() {
  part("review").replaceChildren();
  if (!game.over) return;
  reviewAttempts();
  if (game.thoughts.length) reviewThoughts();
}

function hear({ text, square, value }) {
  if (!value) return;
  if (!game.worth.has(text)) game.worth.set(text, []);
  const found = game.worth.get(text);
  found.push({ square, value });
  if (found.length === squaresLeft(text)) review();
}

function squaresLeft(text) {
  return game.certificate.squares - (text.length - 1) / 2;
}

function reviewAttempts() {
  const section = add(part("review"), "section"), costs = [];
  add(section, "h2", "What your attempts were worth");
  const said = add(section, "p", "Looking at your attempts ...");
  const body = addTable(section, ["Before", "Attempt", "Worth", "Best"]);
  for (const { text, square } of game.asked) {
    const row = body.insertRow(), found = game.worth.get(text) ?? [];
    const link = add(row.insertCell(), "a", text === "|" ? "nothing" : text.slice(1));
    link.href = `explore.html#/${game.name}/${game.human}/${text.slice(1)}/${square}`;
    row.insertCell().textContent = square;
    const worth = found.find((one) => one.square === square), whole = found.length === squaresLeft(text);
    const best = whole ? Math.max(...found.map((one) => numberOf(one.value))) : null;
    row.insertCell().textContent = worth ? valueText(worth.value) : "…";
    if (best === null) {
      row.insertCell().textContent = "…";
      continue;
    }
    const others = found.filter((one) => numberOf(one.value) > best - 1e-12), cost = best - numberOf(worth.value);
    costs.push({ square, cost, best: others[0], worth });
    row.insertCell().textContent =
      cost < 1e-12 ? "as good as any" : `${others.map((one) => one.square).join(", ")}: ${valueText(others[0].value)}`;
    if (cost > 1e-12) row.className = "costs";
  }
  if (costs.length < game.asked.length) return;
  const worst = costs.reduce((one, other) => (other.cost > one.cost ? other : one), { cost: 0 });
  said.textContent =
    worst.cost < 1e-12
      ? "You played perfectly: every attempt was as good as any other."
      : `Your costliest attempt was square ${worst.square}: it was worth ${valueText(worst.worth.value)}, and square ` +
        `${worst.best.square} was worth ${valueText(worst.best.value)}.`;
  add(section, "p", "Worth is what you win on average from there, if you then play as well as anybody can against this computer. A win is 1, a loss \u22121.", "muted");
}

function addTable(parent, titles) {
  const table = add(parent, "table", "", "review"), head = table.createTHead().insertRow();
  for (const title of titles) add(head, "th", title).scope = "col";
  return table.createTBody();
}

function reviewThoughts() {
  add(part("review"), "h2", "What the computer knew");
  const body = addTable(part("review"), ["Before", "Probabilities", "Attempt"]);
  for (const { infoset, square, result } of game.thoughts) {
    const row = body.insertRow();
    row.insertCell().textContent = infoset.text === "|" ? "nothing" : infoset.text.slice(1);
    row.insertCell().textContent = infoset.actions
      .map((action) => `${action.square}:\u00a0${percentText([action.weight, infoset.weight], 2)}`)
      .join(", ");
    row.insertCell().textContent = `${square} ${result}`;
  }
}

addTitles(part("choice"));
part("choice").onchange = () => start(game?.human ?? 0);
part("first").onclick = () => start(0);
part("second").onclick = () => start(1);
requestAnimationFrame(() => setTimeout(() => begun || start(0))); // after the first paint, as the certificate is large
