// Keys of the page Explore, and where the focus goes when a piece of the page is renewed.
(function () {
  "use strict";

  function press(selector) {
    var found = document.querySelector("#explore " + selector);
    if (!found) return false;
    found.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    return true;
  }

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio]):not([type=range]), select, textarea")) return;
    var key = event.key, done = false;
    if (key === "p") done = press('[data-outcome="placed"]');
    else if (key === "f") done = press('[data-outcome="failed"]');
    else if (key === "Backspace") done = press("[data-undo]");
    else if (/^[olrsvn]$/.test(key)) done = press('[data-key="' + key + '"]');
    if (!done && /^[0-9a-f]$/.test(key)) done = press('[data-square="' + parseInt(key, 16) + '"]');
    if (done) event.preventDefault();
  });

  // The slider over iterations: what it stands for is shown while it moves, and asked for when it stays.
  var sliding = false;

  function slide(slider) {
    var marks = document.querySelectorAll("#explore .curve"), chosen = slider.value;
    marks.forEach(function (curve) {
      curve.querySelectorAll("[data-snapshot]").forEach(function (mark) {
        var is = mark.dataset.snapshot === chosen, dot = mark.querySelector(".dot");
        dot.classList.toggle("chosen", is);
        dot.setAttribute("r", is ? 7 : 4);
        if (!is) return;
        slider.setAttribute("aria-valuetext", mark.getAttribute("aria-label").toLowerCase());
        document.getElementById("after").textContent = mark.getAttribute("aria-label") + ".";
        var field = document.getElementById("iteration");
        field.value = new URL(mark.getAttribute("href"), location).searchParams.get("iteration") || "";
        field.disabled = !field.value;  // the last one is what is shown without
      });
    });
  }

  function show() {
    var steps = document.querySelector("#explore .steps .actions");
    if (steps) steps.scrollLeft = steps.scrollWidth;  // the present infoset is the last card
    var here = document.getElementById("at");
    document.querySelectorAll("#explore .map a").forEach(function (piece) {
      if (here && piece.dataset.infoset === here.value) piece.setAttribute("aria-current", "true");
      else piece.removeAttribute("aria-current");
    });
    document.querySelectorAll("#explore .slide[hidden]").forEach(function (one) { one.hidden = false; });
  }

  document.addEventListener("input", function (event) {
    if (event.target.id !== "slider") return;
    sliding = true;
    slide(event.target);
  });
  document.addEventListener("change", function (event) {
    if (event.target.id === "slider") sliding = false;
  }, true);
  document.addEventListener("htmx:beforeSwap", function (event) {
    if (sliding && event.detail.target.id === "explore") event.detail.shouldSwap = false;
  });
  document.addEventListener("htmx:load", show);

  // The sheet of choices stays open while somebody chooses, and what has the focus in it keeps it.
  var open = false, held = "";
  document.addEventListener("htmx:beforeSwap", function () {
    var sheet = document.getElementById("settings");
    open = !!sheet && sheet.open;
    held = open && sheet.contains(document.activeElement) ? document.activeElement.id : "";
  });
  document.addEventListener("htmx:afterSwap", function () {
    var sheet = document.getElementById("settings");
    if (!sheet || !open) return;
    sheet.open = true;
    var same = held && document.getElementById(held);
    if (same) same.focus({ preventScroll: true });
  });
  show();

  // After a click, the clicked element is gone: the focus goes to the one that is used next.
  document.addEventListener("htmx:afterSettle", function (event) {
    var cause = event.detail.requestConfig && event.detail.requestConfig.triggeringEvent;
    if (!cause || cause.type !== "click" || event.detail.target.id !== "explore") return;
    var next = document.querySelector("#explore [data-focus]");
    if (next) next.focus({ preventScroll: true });
  });
})();
