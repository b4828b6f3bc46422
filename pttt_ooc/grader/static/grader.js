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

  document.addEventListener("htmx:beforeRequest", function (event) {
    var form = event.target.closest && event.target.closest("form.upload");
    if (!form || event.target !== form) return;
    var file = form.elements.file.files[0];
    var limit = Number(form.dataset.maxBytes);
    tell(form, "");
    if (file && file.size > limit) {
      event.preventDefault();
      tell(form, "The file has " + file.size.toLocaleString("en") + " bytes; the limit is " + limit.toLocaleString("en") + ".");
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
    if (document.activeElement === document.body) form.querySelector("button").focus(); // it was disabled meanwhile
  });

  document.addEventListener("htmx:sendError", function (event) {
    if (event.target.matches && event.target.matches("form.upload")) tell(event.target, "The grader cannot be reached; send it again in a moment.");
  });
})();
