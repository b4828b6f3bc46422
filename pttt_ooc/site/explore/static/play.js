// Which opponents can be chosen for which player; boards and steps through a game are in the shell's board.js.
(function () {
  "use strict";

  // If an opponent has a strategy for one player only, the person plays the other one.
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
