"use strict";
// The page's address holds its state: #/GAME/PLAYER/ATTEMPTS/SQUARE, such as #/pttt-abrupt/0/4*0./3.

const asker = new Asker(hear), MOST_BOARDS = 6;
let state = null, shown = null, facts = null, values = {}; // `shown` is the last state that was an infoset

function readAddress() {
  const [, name, player, attempts = "", square = ""] = decodeURIComponent(location.hash.slice(1)).split("/");
  return {
    name: name in TITLES ? name : Object.keys(TITLES)[0],
    player: player === "1" ? 1 : 0,
    text: attempts.startsWith("|") ? attempts : `|${attempts}`,
    square: /^\d+$/.test(square) ? Number(square) : null,
  };
}

function addressOf({ name, player, text, square }) {
  return `#/${name}/${player}/${text.slice(1)}${square === null ? "" : `/${square}`}`;
}

// Go to another infoset, which is a step in the browser's history.
function go(change) {
  location.hash = addressOf({ ...state, square: null, ...change });
}

// Choose a square, which is no step in the browser's history.
function choose(square) {
  location.replace(addressOf({ ...state, square }));
}

function follow() {
  const next = readAddress(), stays = facts && ["name", "player", "text"].every((key) => state[key] === next[key]);
  const before = state;
  state = next;
  part("choice").value = state.name;
  part("player").value = state.player;
  part("infoset").value = state.text;
  part("aim").textContent = rulesOf(state.name);
  if (stays) show();
  else {
    if (before?.name !== state.name) part("notes").textContent = "Loading ...";
    asker.ask(state.name, state.player, [state.text]);
  }
}

function hear(answer) {
  if ("facts" in answer) {
    part("wrong").hidden = Boolean(answer.facts);
    part("wrong").textContent = `${answer.text} is not an infoset of player ${state.player}: ${reasonAgainst(answer.text)}`;
    if (!answer.facts) {
      part("notes").textContent = facts ? "The last infoset is still shown." : "";
      state = shown ?? state;
      return;
    }
    [facts, values, shown] = [answer.facts, {}, state];
    show();
  } else if ("value" in answer) {
    values[answer.square] = answer.value;
    showValues();
  }
}

function reasonAgainst(text) {
  return attemptsOf(text)
    ? "no game brings the player there with a turn to come."
    : "write squares with * for placed or . for failed, such as |4*0.";
}

// ---------------------------------------------------------------------------------------------
// What is shown

function show() {
  if (!facts) return;
  showPath();
  drawBoard(part("board"), state.name, fillSquare);
  showChosen();
  showBoards();
  part("details").hidden = !facts.probabilities && !facts.beliefs;
  showValues();
}

// What changes while values are found; buttons stay, as somebody may be pressing one.
function showValues() {
  const wanted = document.querySelector("[name=layer]:checked").value;
  const layer = wanted === "probability" && !facts.probabilities ? "value" : wanted;
  part("legend").textContent = layer !== wanted ? "No probabilities here. " : "";
  if (layer !== "probability" && !facts.beliefs) part("legend").textContent ||= "Nothing to show here.";
  else part("legend").textContent += {
    probability: "How likely a perfect player attempts each square.",
    value: "What each attempt is worth: blue is above 0, orange below.",
    belief: "How likely the other player has each square.",
  }[layer];
  for (const cell of part("board").querySelectorAll("button:enabled"))
    paintSquare(cell, Number(cell.dataset.square), layer);
  showExact();
  showNotes();
  showAttempts();
}

function showPath() {
  const path = part("path");
  path.replaceChildren();
  const steps = ["|", ...attemptsOf(facts.text).map((_, n) => facts.text.slice(0, 3 + 2 * n))];
  for (const text of steps) {
    const last = text === facts.text;
    const label = text === "|" ? "Start" : `${text.at(-2)} ${text.endsWith("*") ? "placed" : "failed"}`;
    const step = add(path, last ? "span" : "button", label);
    if (last) step.setAttribute("aria-current", "step");
    else step.onclick = () => go({ text });
  }
}

function fillSquare(cell, square) {
  const mine = facts.marks.includes(square), theirs = facts.misses.includes(square), here = square === state.square;
  cell.disabled = mine || theirs;
  cell.setAttribute("aria-pressed", here);
  if (mine || theirs) {
    cell.className = mine ? "mine" : "theirs";
    cell.append(SIDES[mine ? facts.player : 1 - facts.player]);
    cell.setAttribute("aria-label", `Square ${square}, ${mine ? "your mark" : "the other player's mark"}`);
    return;
  }
  add(cell, "span", "", "figure");
  cell.classList.toggle("here", here);
  cell.onclick = () => choose(here ? null : square);
}

function paintSquare(cell, square, layer) {
  const { text, shade, tone } = shownAt(square, layer);
  const word = { probability: "probability", value: "value", belief: "the other's mark" }[layer];
  cell.querySelector(".figure").textContent = text;
  cell.classList.toggle("below", tone === "below");
  cell.style.setProperty("--shade", shade.toFixed(3));
  cell.setAttribute("aria-label", `Square ${square}: ${word} ${text}`);
}

function shownAt(square, layer) {
  if (layer === "value") {
    if (!values[square]) return { text: facts.beliefs ? "…" : "?", shade: 0 };
    const number = numberOf(values[square]);
    return { text: valueText(values[square]), shade: Math.sqrt(Math.abs(number)), tone: number < 0 ? "below" : "" };
  }
  const shares = layer === "belief" ? facts.beliefs : facts.probabilities;
  if (!shares) return { text: "?", shade: 0 };
  const share = shares[square] ?? [0n, 1n];
  return { text: percentText(share), shade: Math.sqrt(numberOf(share)), tone: layer === "belief" ? "below" : "" };
}

function showChosen() {
  const section = part("chosen"), { square } = state;
  section.replaceChildren();
  if (square === null || !facts.legal.includes(square)) {
    add(section, "h2", facts.text === "|" ? "The first attempt" : "The next attempt");
    add(section, "p", `Player ${facts.player} is to move. Choose a square, and then what comes of it.`);
    return;
  }
  add(section, "h2", `Square ${square}`);
  add(section, "dl", "", "exact");
  for (const outcome of facts.outcomes.filter((one) => one.square === square)) {
    const probability = outcome.probability ? `, ${percentText(outcome.probability, 2)}` : "";
    const line = add(section, "p", "", "outcome");
    const words = `${outcome.placed ? "It is placed" : "It fails"}${probability}`;
    if (outcome.decides) {
      const button = add(line, "button", words, "main");
      button.onclick = () => go({ text: `${facts.text}${square.toString(16)}${outcome.placed ? "*" : "."}` });
    } else add(line, "strong", words);
    add(line, "span", tellRest(outcome), "muted");
  }
}

function showExact() {
  const list = document.querySelector("#chosen dl"), { square } = state;
  if (!list) return;
  list.replaceChildren();
  const entry = (title, fraction, text) => {
    add(list, "dt", title);
    const told = add(list, "dd", text);
    if (fraction && fraction[1] > 1n) add(told, "span", fractionText(fraction).replace("-", "\u2212"), "fraction");
  };
  const share = facts.probabilities && (facts.probabilities[square] ?? [0n, 1n]);
  if (share) entry("Probability", share, percentText(share, 4));
  if (facts.beliefs) entry("Value", values[square], values[square] ? valueText(values[square], 6) : "…");
}

function tellRest({ then, decides }) {
  if (!then) return decides ? "" : "Then the game is over.";
  const [returns, wins, draws, loses] = then, told = [];
  for (const [share, words] of [[returns, "you move again"], [wins, "you win"], [draws, "a draw"], [loses, "you lose"]])
    if (share[0]) told.push(share[0] === share[1] ? words : `${words} ${percentText(share)}`);
  return `Then ${told.join(", ")}.`;
}

function showNotes() {
  const me = facts.player, notes = [], both = numberOf(facts.ownReach) * numberOf(facts.othersReach);
  if (!facts.probabilities)
    notes.push(`Player ${me}'s equilibrium never comes here, so it gives no probabilities.`);
  if (!facts.beliefs)
    notes.push(
      `Player ${1 - me}'s equilibrium never lets player ${me} come here, so there are no values and no beliefs.`
    );
  if (both && facts.text !== "|")
    notes.push(`When both play their equilibrium, ${percentText(jointReach(facts), 4)} of the games come here.`);
  const known = Object.entries(values);
  if (known.length === facts.legal.length) {
    const best = Math.max(...known.map(([, value]) => numberOf(value)));
    const good = known.filter(([, value]) => numberOf(value) > best - 1e-12).map(([square]) => square);
    const worth = `worth ${valueText(values[good[0]], 6)} to player ${me}`;
    if (good.length === 1) notes.push(`The best attempt is square ${good[0]}, ${worth}.`);
    else if (good.length === known.length) notes.push(`All attempts are equally good, ${worth}.`);
    else notes.push(`The best attempts are ${good.slice(0, -1).join(", ")} and ${good.at(-1)}, each ${worth}.`);
  }
  part("notes").textContent = notes.join("\n");
}

function jointReach({ ownReach, othersReach }) {
  return [ownReach[0] * othersReach[0], ownReach[1] * othersReach[1]];
}

function showAttempts() {
  const table = part("attempts");
  table.replaceChildren();
  const head = table.createTHead().insertRow(), body = table.createTBody();
  for (const title of ["Square", "Probability", "Value", "It fails"]) add(head, "th", title).scope = "col";
  for (const square of facts.legal) {
    const row = body.insertRow(), share = facts.probabilities && (facts.probabilities[square] ?? [0n, 1n]);
    const title = add(row, "th", square);
    title.scope = "row";
    for (const [fraction, text] of [
      [share, share ? percentText(share, 2) : "–"],
      [values[square], values[square] ? valueText(values[square], 6) : facts.beliefs ? "…" : "–"],
      [facts.beliefs?.[square], facts.beliefs ? percentText(facts.beliefs[square], 2) : "–"],
    ]) {
      const cell = add(row, "td", text);
      if (fraction && shortFraction(fraction)) add(cell, "small", shortFraction(fraction));
    }
    if (square === state.square) row.className = "here";
  }
}

function showBoards() {
  const list = part("boards");
  list.replaceChildren();
  if (!facts.beliefs) {
    add(list, "p", "No game comes here.", "muted");
    return;
  }
  for (const [marks, share] of facts.boards.slice(0, MOST_BOARDS)) {
    const figure = add(list, "figure"), cells = add(figure, "div", "", `small ${isHex(state.name) ? "hex" : ""}`);
    for (let row = 0; row < 3; row++) {
      const line = add(cells, "div", "", "row");
      for (let square = 3 * row; square < 3 * row + 3; square++) {
        const mine = facts.marks.includes(square), theirs = (marks >> square) & 1;
        const owner = mine ? facts.player : theirs ? 1 - facts.player : null;
        add(line, "span", SIDES[owner] ?? "", mine ? "mine" : theirs ? "theirs" : "");
      }
    }
    add(figure, "figcaption", `${percentText(share, 2)} ${shortFraction(share)}`);
  }
  const rest = facts.boards.slice(MOST_BOARDS);
  if (rest.length) add(list, "p", `${rest.length} other ${rest.length === 1 ? "board" : "boards"}`, "muted");
}

// ---------------------------------------------------------------------------------------------

addTitles(part("choice"));
part("choice").onchange = () => go({ name: part("choice").value, text: "|" });
part("player").onchange = () => go({ player: Number(part("player").value), text: "|" });
part("infoset").onchange = () => {
  const text = part("infoset").value.trim();
  go({ text: text.startsWith("|") ? text : `|${text}` });
};
for (const radio of document.querySelectorAll("[name=layer]")) radio.onchange = () => facts && showValues();
addEventListener("hashchange", follow);
follow();
