// The wait-for graph of a deadlock: who waits for what, and who could still signal it. The finding has a note a
// site, "phase 0 (parity 0) of mbarrier `full`[0]: 0 of 1 arrivals have come", and others that name it in turn.
import { svg } from "./dom.js";
import { placeOfSite, placeText } from "./data.js";

// What a note waits for, the state of that, and how many others wait in the same way.
export function awaited(note) {
  const m = /^(?:phase (-?\d+) \(parity (\d)\) of )?(.+?)(?:: (.*?))?(?: \((\d+ [^()]*) like this one\))?$/.exec(note);
  return { object: m[3], phase: m[1], state: m[4] ?? "", alike: m[5] ?? "" };
}

const named = (site) => `warp ${site.warp}`;

export function isWaitGraph(f) {
  return f.fatal && f.notes.length > 0 && f.sites.length > 0 && f.sites.every((s, i) => s.what !== "waits" || f.notes[i] !== undefined) && f.sites[0].what === "waits";
}

// {waiters, objects, edges: [waiter, object], back: [object, waiter], others: texts of `could still arrive`}
export function waitGraph(f) {
  const waiters = f.sites.map((site, i) => ({ site, i })).filter((w) => w.site.what === "waits" && w.i < f.notes.length);
  const objects = [], edges = [], back = [], others = [];
  const objectOf = (name, phase, state) => {
    let at = objects.findIndex((o) => o.name === name && (phase === undefined || o.phase === undefined || o.phase === phase));
    if (at < 0) at = objects.push({ name, phase, state }) - 1;
    return at;
  };
  waiters.forEach((w, n) => { const a = awaited(f.notes[w.i]); edges.push([n, objectOf(a.object, a.phase, a.state)]); });
  const waiterNamed = (text) => waiters.findIndex((w) => new RegExp(`\\b${named(w.site)}\\b`).test(text));
  for (const note of f.notes) {
    const could = /^could still arrive: (.*)$/.exec(note), cycle = /^cycle: (.*)$/.exec(note);
    if (could) {
      for (const part of could[1].split("; ")) {
        const w = /waiting|waits/.test(part) ? waiterNamed(part) : -1;
        if (w >= 0) back.push([edges[0][1], w]); else others.push(part);
      }
    }
    if (cycle) {
      const stops = cycle[1].split(" -> ");
      for (let i = 1; i + 1 < stops.length; i += 2) {
        const o = objects.findIndex((q) => q.name === stops[i]), w = waiterNamed(stops[i + 1]);
        if (o >= 0 && w >= 0 && !back.some(([p, q]) => p === o && q === w)) back.push([o, w]);
      }
    }
  }
  return { waiters, objects, edges, back, others };
}

const boxWidth = 300, boxHeight = 74, gap = 22, middle = 210;

// Lines of a text that fit into a box.
function wrapped(text, room) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if ((lines.at(-1) + " " + word).length > room && lines.at(-1)) lines.push("");
    lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
  }
  return lines.slice(0, 3);
}

const box = (x, y, title, notes, stroke) => svg("g", {},
  svg("rect", { x, y, width: boxWidth, height: boxHeight, rx: 8, fill: "var(--card)", stroke, "stroke-width": 1.5 }),
  svg("text", { x: x + 12, y: y + 19, "font-weight": 600, style: "font-weight:600" }, title.length > 44 ? title.slice(0, 43) + "…" : title),
  notes.slice(0, 3).map((n, i) => svg("text", { x: x + 12, y: y + 35 + 15 * i, class: "soft" }, n.length > 48 ? n.slice(0, 47) + "…" : n)));

export function drawGraph(f) {
  const g = waitGraph(f), left = 10, right = left + boxWidth + middle;
  const y = (i) => 14 + i * (boxHeight + gap);
  const rows = Math.max(g.waiters.length, g.objects.length + (g.others.length ? 1 : 0));
  const width = right + boxWidth + 70, height = y(rows) + 10;
  const inCycle = g.back.length > 0;
  const out = (n) => [left + boxWidth, y(n) + 20], into = (n) => [right, y(n) + 20];
  const arrow = (x, yy, stroke, toLeft) => svg("path", { d: toLeft ? `M${x},${yy} l9,-4.5 l0,9 z` : `M${x},${yy} l-9,-4.5 l0,9 z`, fill: stroke });
  const curve = (a, b, stroke, dash) => svg("path", { d: `M${a} C${(a[0] + b[0]) / 2},${a[1]} ${(a[0] + b[0]) / 2},${b[1]} ${b}`, fill: "none", stroke, "stroke-width": 2, "stroke-dasharray": dash });
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", style: `max-width:${width}px`, role: "img", "aria-label": `Wait-for graph: ${f.message}` },
    g.edges.map(([w, o]) => [curve(out(w), into(o), "var(--warn)"), arrow(right, into(o)[1], "var(--warn)", false)]),
    g.back.map(([o, w]) => {
      const a = [right, y(o) + 44], b = [left + boxWidth, y(w) + 44];
      return [curve(a, b, "var(--bad)", "6 4"), arrow(b[0], b[1], "var(--bad)", true)];
    }),
    svg("text", { x: left + boxWidth + middle / 2, y: 12, "text-anchor": "middle", class: "soft" }, inCycle ? "waits for →  ·  ← only this could signal" : "waits for →"),
    g.waiters.map((w, n) => box(left, y(n), `${named(w.site)}${w.site.role ? `, ${w.site.role}` : ""}`,
      [`CTA (${w.site.cta}) ${placeText(placeOfSite(w.site))}`, w.site.occurrence ? `execution ${w.site.occurrence}` : "", awaited(f.notes[w.i]).alike].filter(Boolean), "var(--warn)")),
    g.objects.map((o, n) => box(right, y(n), o.name.replaceAll("`", ""), [o.phase === undefined ? "" : `phase ${o.phase}`, ...wrapped(o.state, 46)].filter(Boolean), inCycle ? "var(--bad)" : "var(--line)")),
    g.others.length ? box(right, y(g.objects.length), "could still signal", wrapped(g.others.join("; "), 46), "var(--line)") : null);
}
