// A replay: the scrubber, playing by itself at a chosen speed, and the focus that goes with the move.
// The page works without this, by links and a form.
(function () {
  "use strict";

  var playing = false, speed = "1", timer = null, focused = null;

  function steps() { return document.querySelector(".steps:has(.film)"); }

  function next() { return document.querySelector(".steps a[rel=next]"); }

  function schedule() {
    clearTimeout(timer);
    if (!playing) return;
    timer = setTimeout(function () { if (playing && next()) next().click(); }, 1000 / Number(speed));
  }

  function stop() { playing = false; clearTimeout(timer); }

  function show() {
    var nav = steps();
    if (!nav) return stop();
    nav.querySelector("select").value = speed;
    if (!next()) stop();
    nav.querySelector(".play").textContent = playing ? "Pause" : "Play";
    nav.querySelector(".play").disabled = !next();
  }

  function toggle() {
    playing = !playing && Boolean(next());
    show();
    schedule();
  }

  function addressOf(form) {
    return form.getAttribute("action") + "?" + new URLSearchParams(new FormData(form));
  }

  document.addEventListener("click", function (event) {
    var button = event.target.closest && event.target.closest(".film .play");
    if (button) toggle();
    else if (event.isTrusted && event.target.closest && event.target.closest("a")) stop();
  });

  document.addEventListener("change", function (event) {
    if (event.target.matches(".scrub.whole input[type=range]")) event.target.form.submit();
    if (!event.target.matches(".film select")) return;
    speed = event.target.value;
    schedule();
  });

  document.addEventListener("input", function (event) {
    if (!event.target.matches(".scrub:not(.whole) input[type=range]")) return;
    stop();
    var address = addressOf(event.target.form);
    history.replaceState(history.state, "", address);
    htmx.ajax("GET", address, { source: event.target, target: "#table", swap: "outerHTML show:none" });
  });

  document.addEventListener("keydown", function (event) {
    if (event.key !== " " || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.repeat) return;
    if (event.target.closest("button, a, input, select, textarea, summary") || !steps()) return;
    event.preventDefault();
    toggle();
  });

  // The focus goes with the move: afterwards an element of the same kind has it.
  var kinds = [".scrub input[type=range]", ".film .play", ".film select"];

  document.addEventListener("htmx:beforeSwap", function () {
    var active = document.activeElement;
    focused = null;
    if (!active || !active.closest || !active.closest(".steps")) return;
    focused = active.rel ? ".steps a[rel=" + active.rel + "]" : kinds.find(function (kind) { return active.matches(kind); });
  });
  document.addEventListener("htmx:afterSettle", function () {
    show();
    schedule();
    if (!focused) return;
    var same = document.querySelector(focused);
    if (!same || same.disabled) same = document.getElementById("table");
    focused = null;
    if (same) same.focus({ preventScroll: true });
  });
  show();
})();
