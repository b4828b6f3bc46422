// Times in the reader's own zone, the reader's place when a piece of the page is renewed, and settings.
(function () {
  "use strict";

  var parts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" };
  var thisYear = new Intl.DateTimeFormat(undefined, parts);
  var anyYear = new Intl.DateTimeFormat(undefined, Object.assign({ year: "numeric" }, parts));

  function localTimes(root) {
    root.querySelectorAll("time[datetime]").forEach(function (time) {
      if (time.title || !time.dateTime) return;
      var date = new Date(time.dateTime);
      time.title = time.textContent;
      time.textContent = (date.getFullYear() === new Date().getFullYear() ? thisYear : anyYear).format(date);
    });
  }

  // Settings that this browser keeps: whether single keys act (WCAG 2.1.4), and sounds.
  var chosen = document.documentElement.dataset, usual = { keys: "on", sounds: "off" };

  function choose(name, value) {
    chosen[name] = value || usual[name];
    var box = document.querySelector("[data-setting=" + name + "]");
    if (box) box.checked = chosen[name] === "on";
  }

  Object.keys(usual).forEach(function (name) {
    try {
      choose(name, localStorage.getItem("pttt." + name));
    } catch (error) { // this browser keeps nothing
      choose(name);
    }
  });
  document.querySelectorAll("[popovertarget=settings-here]").forEach(function (button) { button.hidden = false; });
  window.addEventListener("storage", function (event) {
    var name = (event.key || "").replace("pttt.", "");
    if (usual[name]) choose(name, event.newValue);
  });
  document.addEventListener("change", function (event) {
    var name = event.target.dataset && event.target.dataset.setting;
    if (!name) return;
    choose(name, event.target.checked ? "on" : "off");
    try { localStorage.setItem("pttt." + name, chosen[name]); } catch (error) { /* it holds for this page only */ }
  });

  // No script hears a single key that is switched off; a field still gets what is typed.
  window.addEventListener("keydown", function (event) {
    var single = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (single && chosen.keys === "off") event.stopImmediatePropagation();
  }, true);

  document.addEventListener("keydown", function (event) {
    var told = document.getElementById("settings-here");
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.altKey || !told) return;
    if (!event.target.closest("input, select, textarea")) told.togglePopover();
  });

  // The address may have changed since the page was made: moves of a replay, a search.  A table alone is sorted alone.
  document.addEventListener("click", function (event) {
    var link = event.target.closest && event.target.closest("a.to-slide, .alone thead a");
    if (!link) return;
    var here = new URL(link.matches(".to-slide") ? location.href : link.href);
    here.searchParams.set("alone", "1");
    link.href = here.pathname + here.search;
  }, true);

  // A piece that renews itself keeps the link that has the focus, and how far its table is scrolled.
  var left = null;

  function place(piece, element) {
    return Array.prototype.filter.call(piece.querySelectorAll("a, [tabindex]"), function (other) {
      return other.getAttribute("href") === element.getAttribute("href") && other.className === element.className;
    });
  }

  document.addEventListener("htmx:beforeSwap", function (event) {
    var piece = event.detail.target, active = document.activeElement;
    if (event.detail.requestConfig.elt !== piece) return;
    if (event.detail.xhr.status >= 400) { // what is shown stays, and is asked for again
      event.detail.shouldSwap = false;
      return;
    }
    var scroll = piece.querySelector(".scroll");
    left = { id: piece.id, scrolled: scroll ? scroll.scrollLeft : 0, active: null };
    if (piece.contains(active) && active !== piece) left.active = { element: active, nth: place(piece, active).indexOf(active) };
  });

  document.addEventListener("htmx:afterSwap", function () {
    var piece = left && document.getElementById(left.id);
    if (!piece) return;
    var scroll = piece.querySelector(".scroll");
    if (scroll) scroll.scrollLeft = left.scrolled;
    var same = left.active && place(piece, left.active.element)[left.active.nth];
    if (same) same.focus({ preventScroll: true });
    left = null;
  });

  // Every step back asks the server: of several, only the last one's answer is shown, and none once the reader goes on.
  var restoring = null;

  function stopRestoring() {
    if (restoring) restoring.abort();
    restoring = null;
  }

  document.addEventListener("htmx:historyCacheMiss", function (event) {
    stopRestoring();
    restoring = event.detail.xhr;
  });
  document.addEventListener("htmx:pushedIntoHistory", stopRestoring);

  document.addEventListener("htmx:load", function (event) { localTimes(event.detail.elt); });
  localTimes(document);
})();
