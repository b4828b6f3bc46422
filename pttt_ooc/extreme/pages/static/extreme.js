// A link of the steps that has the focus goes with the move: the one of the same kind has it afterwards.
(function () {
  "use strict";

  var focused = null;
  document.addEventListener("htmx:beforeSwap", function () {
    var active = document.activeElement;
    focused = active && active.closest && active.closest(".steps") ? active.rel : null;
  });
  document.addEventListener("htmx:afterSettle", function () {
    if (!focused) return;
    var link = document.querySelector(".steps a[rel=" + focused + "]") || document.getElementById("table");
    focused = null;
    if (link) link.focus({ preventScroll: true });
  });
})();
