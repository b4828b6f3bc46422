// Progress of an upload, a look at the file before it is sent, times in the reader's own zone,
// and a reader who is left where he is when a part of the page is renewed.
(function () {
  "use strict";

  var parts = { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit" };
  var thisYear = new Intl.DateTimeFormat(undefined, parts);
  var anyYear = new Intl.DateTimeFormat(undefined, Object.assign({ year: "numeric" }, parts));

  function localTimes(root) {
    root.querySelectorAll("time[datetime]").forEach(function (time) {
      if (time.title || !time.dateTime) return;
      var date = new Date(time.dateTime);
      time.title = time.textContent;
      time.textContent = (date.getFullYear() === new Date().getFullYear() ? thisYear : anyYear).format(date);
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
    if (document.activeElement === document.body) form.querySelector("button").focus(); // it was disabled meanwhile
  });

  document.addEventListener("htmx:sendError", function (event) {
    if (event.target.matches && event.target.matches("form.upload")) tell(event.target, "The grader cannot be reached; send it again in a moment.");
  });

  // A part that is renewed keeps the link that has the focus, and how far its table is scrolled.
  var left = null;

  function place(part, element) {
    return Array.prototype.filter.call(part.querySelectorAll("a, [tabindex]"), function (other) {
      return other.getAttribute("href") === element.getAttribute("href") && other.className === element.className;
    });
  }

  document.addEventListener("htmx:beforeSwap", function (event) {
    var part = event.detail.target, active = document.activeElement;
    if (part.id === "told") return;
    if (event.detail.xhr.status >= 400) { // what is shown stays, and is asked for again
      event.detail.shouldSwap = false;
      return;
    }
    var scroll = part.querySelector(".scroll");
    left = { id: part.id, scrolled: scroll ? scroll.scrollLeft : 0, active: null };
    if (part.contains(active) && active !== part) left.active = { element: active, nth: place(part, active).indexOf(active) };
  });

  document.addEventListener("htmx:afterSwap", function () {
    var part = left && document.getElementById(left.id);
    if (!part) return;
    var scroll = part.querySelector(".scroll");
    if (scroll) scroll.scrollLeft = left.scrolled;
    var same = left.active && place(part, left.active.element)[left.active.nth];
    if (same) same.focus({ preventScroll: true });
    left = null;
  });

  document.addEventListener("htmx:load", function (event) { localTimes(event.detail.elt); });
  localTimes(document);
})();
