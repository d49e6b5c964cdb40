// The timeline's model: rows of tracks with their events, and the arrows between events.
import { grouped, instruction, placeOf, trace, unit } from "./data.js";
import { color, stallColor } from "./dom.js";

const depthOf = (events, at, end) => {
  // Scopes may be nested; others never overlap.
  const ends = [];
  let most = 0;
  const depth = events.map((e) => {
    while (ends.length && ends[ends.length - 1] <= at[e]) ends.pop();
    ends.push(end(e));
    most = Math.max(most, ends.length - 1);
    return ends.length - 1;
  });
  return { depth, most };
};

function makeModel() {
  const kinds = trace.kinds, categories = trace.categories, count = trace.at.length;
  const rows = trace.tracks.map(([parent, kind, order, name], id) =>
    ({ id, parent, kind: kinds[kind], order, name, children: [], slices: [], instants: [] }));
  const more = new Map(trace.more), end = (e) => trace.at[e] + Math.max(0, trace.length[e]);
  // An open wait covers the tests of its mbarrier since it began.
  const begin = trace.at.reduce((a, b) => Math.min(a, b), Infinity), open = new Set();
  for (const [e, m] of more) {
    if (!m.open) continue;
    open.add(e);
    const from = Math.max(m.since ?? trace.at[e], begin);
    trace.length[e] = end(e) - from;
    trace.at[e] = from;
  }
  for (let e = 0; e < count; ++e) (trace.length[e] < 0 ? rows[trace.track[e]].instants : rows[trace.track[e]].slices).push(e);
  let first = Infinity, last = 0;
  for (let e = 0; e < count; ++e) { first = Math.min(first, trace.at[e]); last = Math.max(last, end(e)); }
  const roots = [];
  for (const row of rows) {
    (row.parent < 0 ? roots : rows[row.parent].children).push(row);
    row.slices.sort((a, b) => trace.at[a] - trace.at[b] || trace.length[b] - trace.length[a]);
    row.instants.sort((a, b) => trace.at[a] - trace.at[b]);
    const nested = depthOf(row.slices, trace.at, end);
    row.depths = nested.depth;
    row.lanes = nested.most + 1;
    row.longest = row.slices.reduce((m, e) => Math.max(m, trace.length[e]), 0);
  }
  const rank = { cta: 0, role: 1, warp: 2, tma: 3, tensor_core: 4, in_flight: 5, group: 6 };
  for (const row of rows) row.children.sort((a, b) => (rank[a.kind] ?? 9) - (rank[b.kind] ?? 9) || a.order - b.order);
  const arrowEvents = new Map();
  const note = (list, ends) => {
    for (let i = 0; i < list.length; i += 2) {
      const events = arrowEvents.get(list[i + 1]) ?? [];
      events.push([list[i], ends]);
      arrowEvents.set(list[i + 1], events);
    }
  };
  note(trace.flows, false);
  note(trace.ends, true);
  const into = new Map(), out = new Map();  // event -> events
  const join = (map, from, to) => { const all = map.get(from) ?? []; all.push(to); map.set(from, all); };
  for (const events of arrowEvents.values()) {
    events.sort((a, b) => end(a[0]) - end(b[0]) || a[1] - b[1]);
    for (let i = 0; i + 1 < events.length; ++i) {
      join(out, events[i][0], events[i + 1][0]);
      join(into, events[i + 1][0], events[i][0]);
    }
  }
  if (!count) first = 0, last = 1;
  // `shown`: the end of what is drawn, with room for what is open when the run ends.
  return { rows, roots, first, last, shown: last + (open.size ? (last - first) * 0.08 : 0), more, open, into, out, end, categories };
}

export const model = trace ? makeModel() : null;

export const eventName = (e) => trace.texts[trace.name[e]];
// With its numbers: "phase 2, parity 0: 1 arrival, 32 768 bytes".
export function eventLabel(e) {
  const m = model.more.get(e), name = eventName(e).replaceAll("`", "");
  if (m?.arrivals === undefined) return m?.open ? `${name}, ${m.phase === undefined ? "" : `phase ${m.phase}, `}${m.open}` : name;
  const amounts = (arrivals, size) => [arrivals || !size ? `${grouped(arrivals)} arrival${arrivals === 1 ? "" : "s"}` : "", size ? `${grouped(size)} bytes` : ""].filter(Boolean).join(", ");
  const missing = m.open ? `; missing ${amounts(m["missing arrivals"], m["missing bytes"])}` : "";
  return `${name.replace("phase", `phase ${m.phase}`)}: ${amounts(m.arrivals, m.bytes)}${missing}`;
}
export const eventCategory = (e) => model.categories[trace.category[e]];
export const eventRow = (e) => model.rows[trace.track[e]];
// "SM 0 / CTA slot 0 / warpgroup 1 / warp 4"
export function rowPath(row) {
  const names = [];
  for (let r = row; r && r.kind !== "process"; r = model.rows[r.parent]) names.unshift(r.name);
  return names.join(" / ");
}
export const eventLine = (e) => (trace.line[e] >= 0 ? trace.texts[trace.line[e]] : "");
export const eventInstruction = (e) => instruction(trace.pc[e]);
export const eventPlace = (e) => placeOf(eventInstruction(e));

// Events before and after this one along arrows, as [from, to] pairs, at most `limit` in each direction.
export function chain(event, limit = 40) {
  const pairs = [];
  for (const [map, forward] of [[model.into, false], [model.out, true]]) {
    const seen = new Set([event]), queue = [event];
    let n = 0;
    while (queue.length && n < limit) {
      const e = queue.shift();
      for (const other of map.get(e) ?? []) {
        pairs.push(forward ? [e, other] : [other, e]);
        ++n;
        if (!seen.has(other)) { seen.add(other); queue.push(other); }
      }
    }
  }
  return pairs;
}

// The rows below these, in the order in which they are drawn: [{row, depth}].
const isEmpty = (row) => row.slices.length === 0 && row.instants.length === 0 && row.children.every(isEmpty);
export function flatten(rows, closed, depth = 0, out = []) {
  for (const row of rows) {
    if (row.kind === "process" && depth === 0 && rows.length === 1) { flatten(row.children, closed, depth, out); continue; }
    if (isEmpty(row)) continue;
    out.push({ row, depth });
    if (!closed.has(row.id)) flatten(row.children, closed, depth + 1, out);
  }
  return out;
}

export function eventColor(e) {
  const category = eventCategory(e);
  if (category === "stall") return stallColor(model.more.get(e)?.reason ?? eventName(e).split(" `")[0]);
  return color(category);
}

// What the tooltip and the details say of an event.
export function eventFacts(e) {
  const facts = [], length = trace.length[e], mhz = trace.sm_clock_mhz, known = model.more.get(e) ?? {};
  facts.push(["where", rowPath(eventRow(e))]);
  facts.push(["when", length < 0 ? `${grouped(trace.at[e])} ${unit}`
    : known.open ? `since ${grouped(trace.at[e])}, ${known.open} (${grouped(trace.at[e] + length)}): ${grouped(length)} ${unit}`
    : `${grouped(trace.at[e])} to ${grouped(trace.at[e] + length)}: ${grouped(length)} ${unit}` +
      (mhz && unit === "cycles" ? `, ${(length / mhz * 1000).toPrecision(3)} ns` : "")]);
  const i = eventInstruction(e);
  if (i?.text) facts.push(["instruction", i.text]);
  if (eventLine(e) || eventCategory(e) === "issue") facts.push(["line", eventLine(e) || eventName(e)]);
  for (const [key, value] of Object.entries(known))
    if (!["open", "since"].includes(key) && !(key === "line" && facts.some(([k]) => k === "line"))) facts.push([key === "reason" ? "stall" : key, typeof value === "number" ? grouped(value) : value]);
  return facts;
}
