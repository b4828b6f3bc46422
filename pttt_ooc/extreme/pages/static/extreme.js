// Steps through a match by keys: arrows for one move, Home and End for the first and the last.
(function () {
  "use strict";

  var rels = { ArrowLeft: "prev", ArrowRight: "next", Home: "first", End: "last" };

  document.addEventListener("keydown", function (event) {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.matches("input, select, textarea") || event.target.closest(".scroll, .trace")) return;
    var link = rels[event.key] && document.querySelector(".steps a[rel=" + rels[event.key] + "]");
    if (!link) return;
    event.preventDefault();
    link.click();
  });

  // A link that has the focus goes with the move: the one of the same kind has it afterwards.
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
