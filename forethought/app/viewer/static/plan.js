"use strict";
// Draws the plan's list as a graph, and leads #step-N to the page that has the step.
(() => {
  const HEIGHT = 62;
  const SIGNS = { finished: "✓", failed: "✕", blocked: "■", pending: "○", running: "●" };
  // The outline of each state around 0, 0, from half its width: round, with cut corners, slanted, plain, pointed.
  const SHAPES = {
    finished: (x) => `M${22 - x},-31H${x - 22}A22,22 0 0 1 ${x},-9V9A22,22 0 0 1 ${x - 22},31H${22 - x}A22,22 0 0 1 ${-x},9V-9A22,22 0 0 1 ${22 - x},-31Z`,
    failed: (x) => `M${14 - x},-31H${x - 14}L${x},-17V17L${x - 14},31H${14 - x}L${-x},17V-17Z`,
    blocked: (x) => `M${14 - x},-31H${x}L${x - 14},31H${-x}Z`,
    pending: (x) => `M${-x},-31H${x}V31H${-x}Z`,
    running: (x) => `M${16 - x},-31H${x - 16}L${x},0L${x - 16},31H${16 - x}L${-x},0Z`,
  };

  function element(name, attributes, parent, text = "") {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    parent.append(made);
    return made;
  }

  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

  function layout(items) {
    const narrow = matchMedia("(max-width: 40rem)").matches;
    const width = narrow ? 146 : 220;
    const graph = new dagre.graphlib.Graph().setGraph({ rankdir: narrow ? "TB" : "LR", nodesep: 16, ranksep: narrow ? 34 : 54 });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const item of items) graph.setNode(item.dataset.id, { item, width, height: HEIGHT });
    for (const item of items) {
      for (const before of JSON.parse(item.dataset.after)) if (graph.hasNode(before)) graph.setEdge(before, item.dataset.id);
    }
    dagre.layout(graph);
    return graph;
  }

  function drawEdge(points, svg) {
    const [from, to] = points.slice(-2);
    const path = points.map((at, index) => `${index ? "L" : "M"}${at.x},${at.y}`).join("");
    const angle = (Math.atan2(to.y - from.y, to.x - from.x) * 180) / Math.PI;
    element("path", { d: path, class: "edge" }, svg);
    element("path", { d: "M0,0L-9,-4.5V4.5Z", class: "arrow", transform: `translate(${to.x},${to.y}) rotate(${angle})` }, svg);
  }

  function drawNode({ item, x, y, width }, svg) {
    const { id, status, text, wave = "" } = item.dataset;
    const state = status in SHAPES ? status : "pending";
    const link = element("a", { href: `#${item.id}`, class: state, transform: `translate(${x},${y})` }, svg);
    element("title", {}, link, `${id}, ${status}: ${text}`);
    element("path", { d: SHAPES[state](width / 2), class: "shape" }, link);
    element("text", { class: "name", "text-anchor": "middle", y: -11 }, link, `${SIGNS[state]} ${cut(id, Math.floor(width / 10))}`);
    element("text", { "text-anchor": "middle", y: 6 }, link, cut(text, Math.floor(width / 7.3)));
    element("text", { "text-anchor": "middle", y: 22 }, link, wave || status);
  }

  function draw() {
    const place = document.querySelector("[data-graph]");
    if (!place) return;
    const graph = layout([...document.querySelectorAll("[data-plan] > li")]);
    const { width, height } = graph.graph();
    place.replaceChildren();
    const svg = element("svg", { viewBox: `-3 -3 ${width + 6} ${height + 6}`, width: width + 6, height: height + 6 }, place);
    for (const edge of graph.edges()) drawEdge(graph.edge(edge).points, svg);
    for (const id of graph.nodes()) drawNode(graph.node(id), svg);
  }

  // A link to a step opens it, on whichever page of the steps it is.
  function openStep() {
    const step = /^#step-(\d+)$/.exec(location.hash);
    if (!step) return;
    const details = document.querySelector(`${location.hash} > details`);
    const query = new URLSearchParams(location.search);
    if (details) {
      details.open = true;
    } else if (query.get("step") !== step[1]) {
      query.delete("page");
      query.set("step", step[1]);
      location.search = query;
    }
  }

  draw();
  openStep();
  addEventListener("hashchange", openStep);
  document.getElementById("main")?.addEventListener("morphed", draw);
})();
