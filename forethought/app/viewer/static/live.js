"use strict";
// Keeps <main data-live="ADDRESS"> up to date: the address sends an event whenever the page is not the one of
// now any more, upon which the page is fetched again and morphed. What a person typed, opened or scrolled stays,
// and so does every element with data-keep. After a change <main> gets the event "morphed".
(() => {
  const PAUSE_MS = 1000;
  const main = document.getElementById("main");
  let source = null;
  let last = 0;
  let timer = 0;

  const isTyped = (field) =>
    field.type === "checkbox" || field.type === "radio" ? field.checked !== field.defaultChecked
      : field.type === "file" ? field.files.length > 0
        : field.tagName === "SELECT" ? [...field.options].some((one) => one.selected !== one.defaultSelected)
          : field.value !== field.defaultValue;

  const isKept = (node) => node.nodeType === Node.ELEMENT_NODE
    && ("keep" in node.dataset || (node.matches("input, textarea, select") && isTyped(node)));

  const callbacks = {
    beforeNodeMorphed: (node) => !isKept(node),
    beforeNodeRemoved: (node) => !(node.nodeType === Node.ELEMENT_NODE && "keep" in node.dataset),
    beforeAttributeUpdated: (name, node) => !(name === "open" && node.tagName === "DETAILS"),
  };

  async function refresh() {
    last = Date.now();
    const answer = await fetch(location.href);
    if (!answer.ok) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.getElementById("main");
    document.title = page.title;
    Idiomorph.morph(main, fresh, { morphStyle: "innerHTML", ignoreActiveValue: true, restoreFocus: true, callbacks });
    main.dataset.live = fresh.dataset.live;
    main.dispatchEvent(new CustomEvent("morphed", { bubbles: true }));
  }

  function soon() {
    clearTimeout(timer);
    timer = setTimeout(() => refresh().catch(() => {}), Math.max(0, last + PAUSE_MS - Date.now()));
  }

  function connect() {
    source?.close();
    source = null;
    if (document.hidden || !main.dataset.live) return;
    source = new EventSource(main.dataset.live);
    source.onmessage = soon;
  }

  document.addEventListener("visibilitychange", connect);
  connect();
})();
