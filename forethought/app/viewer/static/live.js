"use strict";
// Keeps <main data-live="ADDRESS"> up to date: the address sends an event whenever the page is out of date. The
// page is then fetched again and morphed. What a person typed, opened or scrolled stays, and so does every element
// with data-keep. After a change <main> gets the event "morphed". A form is sent once.
(() => {
  const PAUSE_MS = 500;
  const RETRY_MS = 5000;
  const main = document.getElementById("main");
  const notice = document.createElement("p");
  let sent = new WeakSet();
  let source = null;
  let last = 0;
  let timer = 0;

  const isTyped = (field) =>
    field.type === "checkbox" || field.type === "radio" ? field.checked !== field.defaultChecked
      : field.type === "file" ? field.files.length > 0
        : field.tagName === "SELECT" ? field.selectedIndex !== Math.max(0, [...field.options].findIndex((one) => one.defaultSelected))
          : field.value !== field.defaultValue;

  const isKept = (node) => node.nodeType === Node.ELEMENT_NODE
    && ("keep" in node.dataset || (node.matches("input, textarea, select") && isTyped(node)));

  const callbacks = {
    beforeNodeMorphed: (node) => !isKept(node),
    beforeNodeRemoved: (node) => !(node.nodeType === Node.ELEMENT_NODE && "keep" in node.dataset),
    beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS"),
  };

  function say(text) {
    notice.textContent = text;
    notice.hidden = !text;
  }

  async function refresh() {
    last = Date.now();
    const answer = await fetch(location.href).catch(() => null);
    if (!answer) return soon(RETRY_MS);  // the events say so, too
    if (!answer.ok) return say("This page no longer updates. Reload it.");
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("main");
    document.title = page.title;
    main.dataset.live = fresh.dataset.live;
    Idiomorph.morph(main, fresh.childNodes, { morphStyle: "innerHTML", ignoreActiveValue: true, restoreFocus: true, callbacks });
    main.dispatchEvent(new CustomEvent("morphed", { bubbles: true }));
  }

  function soon(pause = PAUSE_MS) {
    clearTimeout(timer);
    timer = setTimeout(refresh, Math.max(0, last + pause - Date.now()));
  }

  function connect() {
    source?.close();
    source = null;
    if (document.hidden || !main.dataset.live) return;
    source = new EventSource(main.dataset.live);
    source.onopen = () => say("");
    source.onmessage = () => soon();
    source.onerror = () => say(source.readyState === EventSource.CLOSED
      ? "This page no longer updates. Reload it."
      : "The viewer does not answer. This page shows the run as it was.");
  }

  function once(event) {
    if (event.target.method !== "post") return;
    if (sent.has(event.target)) event.preventDefault();
    sent.add(event.target);
  }

  notice.setAttribute("role", "status");
  notice.className = "banner";
  say("");
  main.before(notice);
  document.addEventListener("submit", once);
  window.addEventListener("pageshow", () => { sent = new WeakSet(); });
  document.addEventListener("visibilitychange", connect);
  connect();
})();
