// Progress of an upload, and a look at the file before it is sent.
(function () {
  "use strict";

  function tell(form, sentence) {
    var told = form.querySelector("#told");
    told.replaceChildren();
    if (!sentence) return;
    var p = document.createElement("p");
    p.className = "bad";
    p.textContent = sentence;
    told.append(p);
  }

  // What is wrong with a file, in the words of the verdict, as far as its ends and its header tell; "" if nothing,
  // or if this browser cannot tell.
  async function problemOf(form) {
    var file = form.elements.file.files[0];
    var limit = Number(form.dataset.maxBytes);
    if (!file) return "";
    if (file.size > limit)
      return "The file has " + file.size.toLocaleString("en") + " bytes; the limit is " + limit.toLocaleString("en") + ".";
    var head = new DataView(await file.slice(0, 65536).arrayBuffer());
    var tail = new DataView(await file.slice(Math.max(0, file.size - 22)).arrayBuffer());
    if (head.byteLength < 30 || head.getUint32(0, true) !== 0x04034b50) return "Not a valid zip file.";
    var ends = tail.byteLength === 22 && tail.getUint32(0, true) === 0x06054b50; // a comment may follow
    var files = ends ? tail.getUint16(10, true) : 1;
    if (files !== 1) return "The zip contains more than one file.";
    var named = 30 + head.getUint16(26, true);
    if (named + head.getUint16(28, true) >= head.byteLength) return "";
    var name = new TextDecoder().decode(new Uint8Array(head.buffer, 30, named - 30));
    if (!name.endsWith(".npy")) return "The zipped file does not end with .npy.";
    return problemOfTensor(form, await beginOf(head, named + head.getUint16(28, true)));
  }

  // The first bytes of the zipped file; null if they cannot be read.
  async function beginOf(head, start) {
    var packed = new Uint8Array(head.buffer, start), method = head.getUint16(8, true);
    if (method === 0) return packed.slice(0, 1024);
    if (method !== 8 || !window.DecompressionStream) return null;
    var size = head.getUint32(18, true); // 0 if it follows the data
    var stream = new DecompressionStream("deflate-raw"), writer = stream.writable.getWriter();
    var begin = stream.readable.getReader().read(); // waits already: an error at the end takes nothing from it
    writer.write(size ? packed.slice(0, size) : packed).catch(function () {});
    writer.close().catch(function () {});
    try {
      return (await begin).value || null;
    } catch (error) {
      return null; // damaged: the course says how
    }
  }

  function problemOfTensor(form, bytes) {
    if (!bytes) return "";
    var text = String.fromCharCode.apply(null, bytes.slice(0, 256));
    if (text.slice(1, 6) !== "NUMPY") return "Exception parsing numpy tensor.";
    var found = /'shape': \((\d+), (\d+)\)/.exec(text);
    var shapes = JSON.parse(form.dataset.shapes), player = Number(form.elements.player.value);
    var tuple = function (shape) { return "(" + shape.join(", ") + ")"; };
    var shown = found ? tuple([found[1], found[2]]) : "another form";
    var wanted = tuple(shapes[player]), other = tuple(shapes[1 - player]);
    if (shown === wanted) return "";
    var hint = shown === other ? " This is a file of player " + (1 - player) + ", not of player " + player + "." : "";
    return "Invalid tensor shape: found " + shown + ", expected " + wanted + "." + hint;
  }

  document.addEventListener("htmx:confirm", function (event) {
    var form = event.target.closest && event.target.closest("form.upload");
    if (!form || event.target !== form) return;
    event.preventDefault();
    problemOf(form).catch(function () { return ""; }).then(function (problem) {
      tell(form, problem);
      if (!problem) event.detail.issueRequest(true);
    });
  });

  document.addEventListener("htmx:beforeRequest", function (event) {
    var form = event.target.closest && event.target.closest("form.upload");
    if (form && event.target === form && form.querySelector("progress")) form.querySelector("progress").hidden = false;
  });

  document.addEventListener("htmx:xhr:progress", function (event) {
    var form = event.target.closest && event.target.closest("form.upload");
    if (form && event.detail.lengthComputable) form.querySelector("progress").value = event.detail.loaded / event.detail.total;
  });

  document.addEventListener("htmx:afterRequest", function (event) {
    if (!(event.target.matches && event.target.matches("form.upload"))) return;
    var form = event.target;
    form.querySelector("progress").hidden = true;
    form.querySelector("progress").value = 0;
    if (event.detail.successful) form.elements.file.value = "";
    if (document.activeElement === document.body) form.querySelector("button").focus(); // it was disabled meanwhile
  });

  document.addEventListener("htmx:sendError", function (event) {
    if (event.target.matches && event.target.matches("form.upload")) tell(event.target, "The course cannot be reached; send it again in a moment.");
  });

  // Countdowns go on while the page is open; the words are those of the server.
  function left(seconds) {
    var minutes = Math.max(0, Math.floor(seconds / 60)), hours = Math.floor(minutes / 60), days = Math.floor(hours / 24);
    if (days) return days + " d " + (hours % 24) + " h";
    if (hours) return hours + " h " + (minutes % 60) + " min";
    return minutes >= 10 ? minutes + " min" : minutes + " min " + Math.max(0, Math.floor(seconds % 60)) + " s";
  }

  var clock = document.querySelector("[data-now]"); // the server's: a computer's own may be wrong
  var offset = clock ? Number(clock.dataset.now) - Date.now() / 1000 : 0;
  function count() {
    document.querySelectorAll("[data-until]").forEach(function (one) {
      one.textContent = left(Number(one.dataset.until) - Date.now() / 1000 - offset);
    });
  }
  if (document.querySelector("[data-until]")) setInterval(count, 1000);
})();

// The code of a link is behind the # of the address, which is sent to nobody; the form gets it, and the address forgets it.
(function () {
  "use strict";
  var form = document.querySelector("form[data-code-from-address]");
  if (!form || location.hash.length < 2) return;
  form.elements.code.value = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
})();
