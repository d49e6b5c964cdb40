// Elements, colours, the tooltip: what every view uses.

// el("td", {class: "number"}, "12"); an attribute that begins with "on" is a listener.
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(3))
    if (child !== undefined && child !== null && child !== false) element.append(child);
  return element;
}
export const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

export const card = (title, ...children) => el("div", { class: "card" }, title && el("h2", {}, title), children);

// columns: names, "#name" for numbers; rows: lists of texts or elements.
export function table(columns, rows) {
  const number = columns.map((c) => c.startsWith("#"));
  return el("table", {},
    el("thead", {}, el("tr", {}, columns.map((c, i) =>
      el("th", { class: number[i] ? "number" : undefined, scope: "col" }, c.replace(/^#/, ""))))),
    el("tbody", {}, rows.map((cells) => el("tr", {}, cells.map((cell, i) =>
      el("td", { class: number[i] ? "number" : undefined }, cell))))));
}

// parts: [share of 0..1, colour, title]
export const bar = (parts) => el("div", { class: "bar", role: "img", "aria-label": parts.map((p) => p[2]).join(", ") },
  parts.map(([share, color, title]) => el("span", { style: `width:${share * 100}%;background:${color}`, title })));

// rows: [label, share, colour, text]
export const bars = (rows) => el("div", { class: "bars" }, rows.map(([label, share, color, text]) =>
  [el("span", {}, label), bar([[Math.min(1, share), color, `${label} ${text}`]]), el("span", { class: "value" }, text)]));

export const legend = (items) => el("div", { class: "legend" }, items.map(([color, text]) =>
  el("span", {}, el("i", { style: `background:${color}` }), text)));

// A colour of the current theme.
export const color = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
export const isDark = () => document.documentElement.dataset.theme === "dark";

// Of a stall reason: the same everywhere.
const stalls = {
  selected: "#5b8def", "not selected": "#a9b7cc", wait: "#8fa3bd", "short scoreboard": "#e07fb0", "long scoreboard": "#d6453d",
  "math pipe throttle": "#b79cf2", "mio throttle": "#e6b84a", "lg throttle": "#d9822b", "tma throttle": "#38b2ac",
  "branch resolving": "#94a37a", "no instruction": "#b59a6d", barrier: "#c06a4b", "cluster barrier": "#a0522d", membar: "#7f8c5a", mbarrier: "#f0932b",
  gmma: "#8b5cf6", "async group": "#22a58c", convergence: "#a3a86b", registers: "#c9a227", sleeping: "#6b7280", drain: "#78909c",
};
export const stallColor = (reason) => stalls[reason.replaceAll("_", " ")] ?? "#e3a34a";

export function showTooltip(event, ...content) {
  const tip = document.getElementById("tooltip");
  tip.replaceChildren(...content.flat().filter((c) => c !== null && c !== undefined && c !== ""));
  tip.hidden = false;
  const x = Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8);
  const below = event.clientY + 18;
  tip.style.left = Math.max(4, x) + "px";
  tip.style.top = (below + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : below) + "px";
}
export const hideTooltip = () => { document.getElementById("tooltip").hidden = true; };

// Arrow keys point at the cells of a picture as the pointer does. Cells begin at `edge` [x, y]; `step` gives their width and height.
export function pointByKeys(canvas, edge, step) {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  let at = null;
  canvas.tabIndex = 0;
  canvas.setAttribute("aria-label", `${canvas.getAttribute("aria-label")}. Arrow keys point at its cells.`);
  const leave = () => { at = null; canvas.dispatchEvent(new PointerEvent("pointerleave")); };
  canvas.addEventListener("keydown", (event) => {
    if (event.key === "Escape") return leave();
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    const size = step(), room = [canvas.clientWidth, canvas.clientHeight];
    at = [0, 1].map((d) => Math.max(0, Math.min(Math.floor((room[d] - edge[d]) / size[d]) - 1, at ? at[d] + move[d] : 0)));
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + edge[0] + (at[0] + 0.5) * size[0], clientY: box.top + edge[1] + (at[1] + 0.5) * size[1] }));
  });
  canvas.addEventListener("blur", leave);
}

// A canvas with its size in CSS pixels, sharp on every screen.
export function sized(canvas, width, height) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

// Views redraw their canvases when the theme or the window's size changes.
const redraws = new Set();
export const onRedraw = (draw) => { redraws.add(draw); };
export const redrawAll = () => { for (const draw of redraws) draw(); };

// Goes to another view: go("source", {file, line}).
const goers = new Map();
export const onGo = (view, goer) => { goers.set(view, goer); };
export const go = (view, to) => { goers.get("view")?.(view); goers.get(view)?.(to); };
export const canGo = (view) => goers.has(view);
