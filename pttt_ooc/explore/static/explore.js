// Keys of the page Explore, and where the focus is after a piece of it has been renewed.
(function () {
  "use strict";

  function press(selector) {
    var found = document.querySelector("#explore " + selector);
    if (!found) return false;
    found.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    return true;
  }

  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input:not([type=radio]), select, textarea")) return;
    var key = event.key, done = false;
    if (/^[0-9]$/.test(key)) done = press('[data-square="' + key + '"]');
    else if (key === "p") done = press('[data-outcome="placed"]');
    else if (key === "f") done = press('[data-outcome="failed"]');
    else if (key === "Backspace") done = press("[data-undo]");
    if (done) event.preventDefault();
  });

  // A click on what is gone by now leads on to what comes next.
  document.addEventListener("htmx:afterSettle", function (event) {
    var cause = event.detail.requestConfig && event.detail.requestConfig.triggeringEvent;
    if (!cause || cause.type !== "click" || event.detail.target.id !== "explore") return;
    var next = document.querySelector("#explore [data-focus]");
    if (next) next.focus({ preventScroll: true });
  });
})();
