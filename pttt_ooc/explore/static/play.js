// Steps through a game that is over, and who can be played; boards are in the shell's board.js.
(function () {
  "use strict";

  document.addEventListener("keydown", function (event) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    if (event.target.matches("input, select, textarea") || document.querySelector("#table form .grid")) return;
    if (!/^Arrow(Left|Right)$/.test(event.key)) return;
    var link = document.querySelector(event.key === "ArrowLeft" ? ".steps [rel=prev]" : ".steps [rel=next]");
    if (link && !event.target.closest(".scroll")) link.click();
  });

  // Of an opponent that has a strategy for one player, only the other player can be chosen.
  function offerSides() {
    var chosen = document.querySelector("[name=opponent][data-sides]:checked");
    if (!chosen) return;
    var sides = chosen.dataset.sides.split(" ");
    document.querySelectorAll("input[name=player]").forEach(function (side) {
      side.disabled = sides.indexOf(side.value) < 0;
      if (sides.length === 1) side.checked = side.value === sides[0];
    });
  }

  document.addEventListener("change", function (event) { if (event.target.name === "opponent") offerSides(); });
  offerSides();
})();
