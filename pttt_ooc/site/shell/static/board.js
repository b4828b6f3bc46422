// Boards: keys for squares, arrow keys between them, and keys that step through a game; the pages work without this.
(function () {
  "use strict";

  function free(cell) { return cell && cell.getAttribute("aria-disabled") !== "true"; }

  // A square that is not free sends no request.
  document.addEventListener("click", function (event) {
    var cell = event.target.closest && event.target.closest("button.cell");
    if (cell && !free(cell)) event.preventDefault();
  }, true);

  // The nearest square in a direction, wherever the squares lie: boards may be made of boards.
  function move(grid, cell, key) {
    var across = /Left|Right/.test(key), sign = /Left|Up/.test(key) ? -1 : 1;
    var from = cell.getBoundingClientRect(), best = null, least = Infinity;
    grid.querySelectorAll("button.cell").forEach(function (other) {
      var to = other.getBoundingClientRect(), x = to.left - from.left, y = to.top - from.top;
      var ahead = sign * (across ? x : y), aside = Math.abs(across ? y : x);
      if (ahead > 1 && ahead + 3 * aside < least) {
        least = ahead + 3 * aside;
        best = other;
      }
    });
    if (best) best.focus();
  }

  document.addEventListener("keydown", function (event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.repeat) return;
    if (event.target.matches("input, select, textarea")) return;
    var grid = document.querySelector("#table form .grid, #table form .planes");
    var link = !grid && { ArrowLeft: "prev", ArrowRight: "next", Home: "first", End: "last" }[event.key];
    var step = link && document.querySelector(".steps a[rel=" + link + "]");
    if (step && !event.target.closest(".scroll, .trace")) {
      event.preventDefault();
      step.click();
    } else if (grid && /^[0-9]$/.test(event.key)) {
      var cell = grid.querySelector('[data-key="' + event.key + '"]');
      if (!cell) return;
      event.preventDefault();
      cell.focus();
      if (free(cell)) cell.click();
    } else if (grid && /^Arrow/.test(event.key) && event.target.matches("button.cell")) {
      event.preventDefault();
      move(grid, event.target, event.key);
    }
  });

  // Shown until the server answers: the mark itself where players see everything; a neutral one in a phantom game, as
  // only the referee knows the outcome; nothing for pencil marks and hints.
  var shown = null;

  function takeBack() {
    if (shown) shown.cell.innerHTML = shown.before; // as it was drawn by the server
    if (shown) shown.cell.classList.remove("mine", "theirs", "pending");
    shown = null;
  }

  document.addEventListener("htmx:beforeRequest", function (event) {
    var form = event.detail.elt, from = event.detail.requestConfig.triggeringEvent;
    var cell = from && from.submitter;
    if (!cell || !cell.matches("button.cell") || form.matches(".pencil")) return;
    shown = { cell: cell, before: cell.innerHTML };
    cell.textContent = form.dataset.mark || "…";
    var second = form.dataset.mark === "○" && form.querySelector(".planes"); // where a board has planes, colours are of the marks
    cell.classList.add(!form.dataset.mark ? "pending" : second ? "theirs" : "mine");
  });
  document.addEventListener("htmx:sendError", takeBack);

  // A refusal is shown beside the board, which stays.
  var focused = null;

  document.addEventListener("htmx:beforeSwap", function (event) {
    if (event.detail.target.id !== "table") return;
    var told = document.getElementById("told"), active = document.activeElement;
    told.replaceChildren();
    focused = active && active.matches("button.cell") ? active.value : "";
    if (event.detail.xhr.status >= 400 && !event.detail.xhr.getResponseHeader("HX-Retarget")) {
      takeBack();
      event.detail.target = told;
      event.detail.swapOverride = "innerHTML";
      focused = null;
    } else if (event.detail.shouldSwap) {
      // htmx fires an event for each element that it removes, which takes time, and nobody listens to those of boards
      // and lists.
      event.detail.target.querySelectorAll(".planes, .moves").forEach(function (old) { old.remove(); });
    }
  });

  // Scroll the list of moves to the position on the board.
  function showCurrent() {
    var at = document.querySelector(".moves [aria-current]"), list = at && at.closest(".moves");
    if (list) list.scrollTop += at.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
  }

  showCurrent();

  // Before this event the table still has its old attributes.
  document.addEventListener("htmx:afterSettle", function () {
    var table = document.getElementById("table");
    showCurrent();
    if (focused === null || !table) return;
    var cell = table.querySelector('button.cell[value="' + focused + '"]') || (focused && table.querySelector(".planes button.cell"));
    if (cell) cell.focus({ preventScroll: true });
    else if (table.matches(".review")) table.focus({ preventScroll: true });
    focused = null;
  });

  document.addEventListener("htmx:sendError", function () {
    var told = document.getElementById("told"), p = document.createElement("p");
    if (!told) return;
    p.className = "bad";
    p.textContent = "The server cannot be reached; try the same again in a moment.";
    told.replaceChildren(p);
  });
})();
