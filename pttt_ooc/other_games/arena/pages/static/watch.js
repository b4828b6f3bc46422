// A game of two agents that goes on by itself; without this script, a button asks for each move.
(function () {
  "use strict";

  var watched = document.querySelector("#watched[data-events]");
  if (!watched || !window.EventSource) return;
  var more = document.querySelector(".one-more"), stop = document.querySelector(".stop");
  var source = new EventSource(watched.dataset.events);
  more.hidden = true;
  stop.hidden = false;

  function end() {
    source.close();
    stop.hidden = true;
  }

  source.addEventListener("move", function (event) {
    watched.innerHTML = JSON.parse(event.data); // our own server's page, with everything escaped
    var moves = watched.querySelector(".moves");
    if (moves) moves.scrollTop = moves.scrollHeight;
    document.dispatchEvent(new Event("moved"));
    history.replaceState(null, "", watched.dataset.address + "&moves=" + event.lastEventId); // a reload goes on from here
  });
  source.addEventListener("over", end);
  source.addEventListener("refused", function (event) {
    var p = document.createElement("p");
    p.className = "bad";
    p.textContent = JSON.parse(event.data);
    document.getElementById("told").replaceChildren(p);
    end();
  });
  stop.addEventListener("click", function () {
    var made = watched.querySelectorAll(".moves li").length;
    end();
    if (made) location.assign(location.href + "&ply=" + made); // this position, with a link at every move
  });
})();
