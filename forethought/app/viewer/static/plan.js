"use strict";
// Draws the plan's list as a graph, and leads #step-N to the page that has the step.
(() => {
  function element(name, attributes, parent) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  }

  function draw() {
    const place = document.querySelector("[data-graph]");
    if (!place) return;
    place.replaceChildren();
    const items = [...document.querySelectorAll("[data-plan] > li")].map((item) => ({ ...item.dataset }));
    if (items.length < 2) return;
    const graph = new dagre.graphlib.Graph().setGraph({ rankdir: "LR", nodesep: 14, ranksep: 36 });
    graph.setDefaultEdgeLabel(() => ({}));
    for (const item of items) graph.setNode(item.id, { ...item, width: 26 + 7 * item.id.length, height: 30 });
    for (const item of items) for (const before of JSON.parse(item.after)) if (graph.hasNode(before)) graph.setEdge(before, item.id);
    dagre.layout(graph);
    const { width, height } = graph.graph();
    const svg = element("svg", { viewBox: `-2 -2 ${width + 4} ${height + 4}`, width, height, role: "img", "aria-label": "The plan as a graph; the list below says the same" }, place);
    for (const edge of graph.edges()) {
      element("path", { d: graph.edge(edge).points.map((at, index) => `${index ? "L" : "M"}${at.x},${at.y}`).join("") }, svg);
    }
    for (const node of graph.nodes().map((id) => graph.node(id))) {
      const corner = { finished: 15, failed: 0, blocked: 0 }[node.status] ?? 6;
      const box = { x: node.x - node.width / 2, y: node.y - node.height / 2, width: node.width, height: node.height, rx: corner, class: node.status };
      if (node.status === "blocked" || node.status === "failed") box["stroke-dasharray"] = node.status === "failed" ? "8 3" : "3 3";
      element("rect", box, svg);
      element("text", { x: node.x, y: node.y + 4, "text-anchor": "middle" }, svg).textContent = node.id;
    }
  }

  const step = /^#step-(\d+)$/.exec(location.hash);
  const query = new URLSearchParams(location.search);
  if (step && !document.getElementById(location.hash.slice(1)) && query.get("step") !== step[1]) {
    query.delete("page");
    query.set("step", step[1]);
    location.search = query;
  }
  draw();
  document.getElementById("main")?.addEventListener("morphed", draw);
})();
