"use strict";
const part = (id) => document.getElementById(id);
const TITLES = {
  "pttt-abrupt": "Phantom Tic-Tac-Toe, abrupt",
  "pttt-classical": "Phantom Tic-Tac-Toe, classical",
  "dark-hex-3x3-abrupt": "Dark Hex 3x3, abrupt",
  "dark-hex-3x3-classical": "Dark Hex 3x3, classical",
};
const loaded = {}, scores = {};
let game = null;

function isHex(name) {
  return name.startsWith("dark-hex");
}

async function load(name) {
  if (!loaded[name]) {
    const bytes = Uint8Array.from(atob(CERTIFICATES[name]), (character) => character.charCodeAt(0));
    const certificate = new Certificate(await unzipped(bytes));
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
  const result = attempt(game.human, square), again = !game.over && game.turn === game.human;
  computerMoves();
  let text = result === "placed" ? `Square ${square} is yours.` : `Square ${square} was taken.`;
  if (game.over) text = `${text} ${ending()}`;
  else text += again ? " You attempt again." : " The computer has moved; it is your turn.";
  show(text);
}

function ending() {
  const score = (scores[game.name] ??= [0, 0].map(() => ({ won: 0, drawn: 0, lost: 0 })))[game.human];
  const word = game.winner === null ? "drawn" : game.winner === game.human ? "won" : "lost";
  score[word] += 1;
  return { won: "You have won.", drawn: "It is a draw.", lost: "The computer has won." }[word];
}

async function start(human) {
  const name = part("choice").value, { certificate, plans } = await load(name);
  game = { name, certificate, plans, human, marks: [0, 0], tried: [0, 0], texts: ["|", "|"], turn: 0, over: false, winner: null, thoughts: [] };
  computerMoves();
  show(human === 0 ? "You begin: attempt a square." : "The computer has moved; it is your turn.");
}

function show(text) {
  const { human, certificate } = game, side = ["×", "○"];
  part("said").textContent = text;
  part("said").className = `said ${!game.over || game.winner === null ? "" : game.winner === human ? "won" : "lost"}`;
  const board = part("board"), focused = document.activeElement?.dataset?.square;
  board.className = `board ${isHex(game.name) ? "hex" : ""}`;
  board.replaceChildren();
  for (let row = 0; row < 3; row++) {
    const line = board.appendChild(document.createElement("div"));
    line.className = "row";
    for (let square = 3 * row; square < 3 * row + 3; square++) {
      const cell = line.appendChild(document.createElement("button")), bit = 1 << square;
      const mine = game.marks[human] & bit, theirs = game.marks[1 - human] & bit && (game.over || game.tried[human] & bit);
      cell.dataset.square = square;
      cell.innerHTML = `<span class="number">${square}</span>${mine ? side[human] : theirs ? side[1 - human] : ""}`;
      cell.className = mine ? "mine" : theirs ? "theirs" : "";
      cell.disabled = game.over || Boolean(game.tried[human] & bit);
      cell.setAttribute("aria-label", `Square ${square}${mine ? ", yours" : theirs ? ", the computer's" : ""}`);
      cell.onclick = () => humanMoves(square);
    }
  }
  if (focused !== undefined) board.querySelector(`[data-square="${focused}"]:enabled, button:enabled`)?.focus();
  const score = scores[game.name]?.[human];
  const [lower, upper] = certificate.claim.split(" <= value <= ").map((fraction) => {
    const [above, below = "1"] = fraction.split("/");
    return Number((BigInt(above) * 10n ** 15n) / BigInt(below)) / 1e15;
  });
  const most = human === 0 ? upper : -lower;
  part("score").textContent =
    (score ? `You as player ${human}: ${score.won} won, ${score.drawn} drawn, ${score.lost} lost. ` : "") +
    `With a win as 1 and a loss as -1, nobody can get more than ${most.toFixed(6)} a game as player ${human}.`;
  review();
}

// After the game: what the computer knew, and with which probabilities it chose.
function review() {
  part("review").replaceChildren();
  if (!game.over || !game.thoughts.length) return;
  const heading = part("review").appendChild(document.createElement("h2"));
  heading.textContent = "What the computer knew";
  const table = part("review").appendChild(document.createElement("table"));
  table.className = "review";
  const head = table.createTHead().insertRow();
  for (const title of ["Before", "Probabilities", "Attempt"]) {
    head.appendChild(document.createElement("th")).textContent = title;
  }
  const body = table.createTBody();
  for (const { infoset, square, result } of game.thoughts) {
    const row = body.insertRow();
    row.insertCell().textContent = infoset.text === "|" ? "nothing" : infoset.text.slice(1);
    row.insertCell().textContent = infoset.actions
      .map((action) => `${action.square}:\u00a0${(Number((action.weight * 10000n) / infoset.weight) / 100).toFixed(2)}%`)
      .join(", ");
    row.insertCell().textContent = `${square} ${result}`;
  }
}

function showAim() {
  const name = part("choice").value;
  const turn = name.endsWith("abrupt") ? "A failed attempt passes the turn." : "After a failed attempt you attempt again.";
  const aim = isHex(name)
    ? "Player 0 connects top and bottom, player 1 left and right. Neighbours of a square are those beside it, and two in " +
      "each row next to it."
    : "Three in a row win: across, down or diagonal.";
  part("aim").textContent = `${turn} ${aim}`;
}

for (const [name, title] of Object.entries(TITLES)) if (CERTIFICATES[name]) part("choice").add(new Option(title, name));
part("choice").onchange = showAim;
part("first").onclick = () => start(0);
part("second").onclick = () => start(1);
showAim();
