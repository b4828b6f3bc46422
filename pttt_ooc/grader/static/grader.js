// Progress of an upload, a look at the file before it is sent, and times in the reader's own zone.
(function () {
  "use strict";

  var format = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" });

  function localTimes(root) {
    root.querySelectorAll("time[datetime]").forEach(function (time) {
      if (time.title || !time.dateTime) return;
      time.title = time.textContent;
      time.textContent = format.format(new Date(time.dateTime));
    });
  }

  function tell(form, sentence) {
    var told = form.querySelector("#told");
    told.replaceChildren();
    if (!sentence) return;
    var p = document.createElement("p");
    p.className = "bad";
    p.textContent = sentence;
    told.append(p);
  }

  document.addEventListener("htmx:beforeRequest", function (event) {
    var form = event.target.closest && event.target.closest("form.upload");
    if (!form || event.target !== form) return;
    var file = form.elements.file.files[0];
    var limit = Number(form.dataset.maxBytes);
    tell(form, "");
    if (file && file.size > limit) {
      event.preventDefault();
      tell(form, "The file has " + file.size.toLocaleString("en") + " bytes, but at most " + limit.toLocaleString("en") + " are taken.");
      return;
    }
    form.querySelector("progress").hidden = false;
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
  });

  document.addEventListener("htmx:sendError", function (event) {
    if (event.target.matches && event.target.matches("form.upload")) tell(event.target, "The grader cannot be reached; send it again in a moment.");
  });

  document.addEventListener("htmx:load", function (event) { localTimes(event.detail.elt); });
  localTimes(document);
})();
