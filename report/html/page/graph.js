// The wait-for graph of a deadlock: who waits for what, and who could still signal it, from the `waits` of a finding.
import { svg } from "./dom.js";
import { placeOfSite, placeText } from "./data.js";

const named = (site) => `warp ${site.warp}`;

export function isWaitGraph(f) {
  return (f.waits ?? []).length > 0;
}

// What has not come yet, in words.
export function stateOf(wait) {
  const parts = [];
  if (wait.pending_arrivals !== undefined && wait.expected_arrivals !== undefined)
    parts.push(`${wait.expected_arrivals - wait.pending_arrivals} of ${wait.expected_arrivals} arrivals have come`);
  if (wait.pending_bytes > 0) parts.push(`${wait.pending_bytes} bytes have not landed`);
  if (wait.pending_bytes < 0) parts.push(`${-wait.pending_bytes} bytes have landed, not announced by expect_tx`);
  return parts.join(", ");
}

// {waiters, objects, edges: [waiter, object], back: [object, waiter], others: texts of what else could signal}
export function waitGraph(f) {
  const waiters = f.waits.map((wait) => ({ site: f.sites[wait.site], wait }));
  const objects = [], edges = [], back = [], others = [];
  f.waits.forEach((wait, w) => {
    let o = objects.findIndex((q) => q.name === wait.object && q.phase === wait.phase);
    if (o < 0) o = objects.push({ name: wait.object, phase: wait.phase, state: stateOf(wait) }) - 1;
    edges.push([w, o]);
    for (const arriver of wait.arrivers) {
      const at = f.waits.findIndex((q) => q.site === arriver.site);
      if (at < 0) others.push(`${named(arriver)} of CTA (${arriver.cta})`);
      else if (!back.some(([p, q]) => p === o && q === at)) back.push([o, at]);
    }
  });
  if (f.waits[0]?.examined && f.waits[0].arrivers.length === 0) others.push("no thread: the code of the other warps has no arrival left");
  return { waiters, objects, edges, back, others: [...new Set(others)] };
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
    svg("text", { x: left + boxWidth + middle / 2, y: 12, "text-anchor": "middle", class: "soft" }, inCycle ? "waits for →  ·  ← this could signal" : "waits for →"),
    g.waiters.map((w, n) => box(left, y(n), `${named(w.site)}${w.site.role ? `, ${w.site.role}` : ""}`,
      [`CTA (${w.site.cta}) ${placeText(placeOfSite(w.site))}`, w.site.occurrence ? `execution ${w.site.occurrence}` : "", w.wait.alike > 1 ? `${w.wait.alike} groups of lanes wait alike` : ""].filter(Boolean), "var(--warn)")),
    g.objects.map((o, n) => box(right, y(n), o.name.replaceAll("`", ""), [o.phase === undefined ? "" : `phase ${o.phase}`, ...wrapped(o.state, 46)].filter(Boolean), inCycle ? "var(--bad)" : "var(--line)")),
    g.others.length ? box(right, y(g.objects.length), "could still signal", wrapped(g.others.join("; "), 46), "var(--line)") : null);
}
