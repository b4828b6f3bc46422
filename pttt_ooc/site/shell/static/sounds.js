// Sounds, for those who switch them on: short tones for what the server's answer has put on the page, never before it.
// What an element's data-sound says: "placed", "failed" or "over", and the number of moves or attempts.
(function () {
  "use strict";

  var TONES = { placed: [523], failed: [233, 196], over: [392, 523, 659] }; // in Hz, one after the other
  var context = null, heard = said() || { word: "", count: 0 };

  function said() {
    var told = document.querySelector("[data-sound]");
    var words = told && told.dataset.sound.split(" ");
    return words && { word: words[0], count: Number(words[1]) };
  }

  function play(tones) {
    context = context || new AudioContext();
    tones.forEach(function (tone, nth) {
      var at = context.currentTime + 0.11 * nth, pitch = context.createOscillator(), volume = context.createGain();
      pitch.frequency.value = tone;
      volume.gain.setValueAtTime(0.1, at);
      volume.gain.exponentialRampToValueAtTime(0.001, at + 0.1);
      pitch.connect(volume).connect(context.destination);
      pitch.start(at);
      pitch.stop(at + 0.1);
    });
  }

  function listen() {
    var now = said(), before = heard;
    if (!now) return; // an earlier position, to look at
    heard = now;
    if (document.documentElement.dataset.sounds !== "on" || !TONES[now.word]) return;
    if (now.word === "over" ? before.word !== "over" : now.count > before.count) play(TONES[now.word]);
  }

  document.addEventListener("htmx:afterSettle", listen);
  document.addEventListener("moved", listen); // by a script that has put a move on the page itself
})();
