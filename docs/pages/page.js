"use strict";
// Shared by the pages.  `engine`, of engine.js, is a function with all that reads and asks certificates: a page calls
// it, and so does each worker, from its text.

const { Certificate, unzipped, bytesOf, fractionText, attemptsOf } = engine();
const part = (id) => document.getElementById(id);
const SIDES = ["×", "○"];

function programOf(hears) {
  return URL.createObjectURL(new Blob([`(${engine})().${hears}()`], { type: "text/javascript" }));
}

function add(parent, tag, text = "", name = "") {
  const element = parent.appendChild(document.createElement(tag));
  element.textContent = text;
  if (name) element.className = name;
  return element;
}

function isHex(name) {
  return name.startsWith("dark-hex");
}

function addTitles(select) {
  for (const [name, title] of Object.entries(TITLES)) select.add(new Option(title, name));
}

function rulesOf(name) {
  const turn = name.endsWith("abrupt") ? "A failed attempt passes the turn." : "After a failed attempt you attempt again.";
  const aim = isHex(name)
    ? "Player 0 connects top and bottom, player 1 left and right. Neighbours of a square are those beside it, and two in " +
      "each row next to it."
    : "Three in a row win: across, down or diagonal.";
  return `${turn} ${aim}`;
}

// The squares of a board in rows, as buttons with their numbers.
function drawBoard(board, name, fill) {
  const focused = board.contains(document.activeElement) ? document.activeElement.dataset.square : undefined;
  board.className = `board ${isHex(name) ? "hex" : ""}`;
  board.replaceChildren();
  for (let row = 0; row < 3; row++) {
    const line = add(board, "div", "", "row");
    for (let square = 3 * row; square < 3 * row + 3; square++) {
      const cell = add(line, "button");
      cell.type = "button";
      cell.dataset.square = square;
      add(cell, "span", square, "number");
      fill(cell, square);
    }
  }
  if (focused !== undefined) board.querySelector(`[data-square="${focused}"]:enabled, button:enabled`)?.focus();
}

function numberOf([above, below]) {
  return Number(above) / Number(below);
}

// With a sign that is as wide as a digit, and none for zero.
function valueText(fraction, digits = 3) {
  const text = numberOf(fraction).toFixed(digits);
  return /[1-9]/.test(text) ? text.replace("-", "\u2212") : text.replace("-", "");
}

function percentText(fraction, digits = 1) {
  const number = 100 * numberOf(fraction), least = 10 ** -digits;
  if (number > 0 && number < least / 2) return `<\u2060${least.toFixed(digits)}\u00a0%`;
  if (number < 100 && number > 100 - least / 2) return `>\u2060${(100 - least).toFixed(digits)}\u00a0%`;
  return `${number === 0 || number === 100 ? number : number.toFixed(digits)}\u00a0%`;
}

// A fraction that is quick to read, or nothing.
function shortFraction(fraction) {
  return fraction[1] > 1n && fraction[1] < 1000n ? fractionText(fraction).replace("-", "\u2212") : "";
}

// Asks a worker about infosets; `hear` gets the answers to the newest question only.
class Asker {
  constructor(hear) {
    this.worker = new Worker(programOf("hearQuestions"));
    this.number = 0;
    this.worker.onmessage = ({ data }) => data.number === this.number && hear(data);
  }

  ask(name, player, texts) {
    this.number += 1;
    this.worker.postMessage({ number: this.number, name, content: CERTIFICATES[name], player, texts });
  }
}
