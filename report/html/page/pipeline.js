// The view "Pipeline": stages and mbarriers as a Gantt chart, how long each stage is filled, full, read and free,
// and which warpgroup waits for whom.
import { grouped, percent, trace, unit } from "./data.js";
import { bar, card, el, legend, table } from "./dom.js";
import { describe, shownText, stallLegend } from "./lanes.js";
import { Timeline } from "./timeline.js";
import { eventCategory, eventName, eventRow, model } from "./tracks.js";

const bare = (name) => name.replaceAll("`", "");
const family = (name) => bare(name).replace(/(\[\d+\])+/g, "");
const below = (row, kind, out = []) => { if (row.kind === kind) out.push(row); for (const c of row.children) below(c, kind, out); return out; };

let groups = 0;
const groupRow = (name, children) => ({ id: `group ${groups++}`, parent: -1, kind: "group", name, children, slices: [], instants: [], depths: [], lanes: 1, longest: 0 });

// Stages beside the mbarriers, and one warp for each warpgroup: the one that waits most.
function pipelineRoots(ctas) {
  return ctas.map((cta) => {
    const waits = (row) => row.slices.reduce((sum, e) => sum + (eventCategory(e) === "stall" ? trace.length[e] : 0), 0);
    const roles = below(cta, "role"), warps = roles.length
      ? roles.map((r) => groupRow(r.name, [...r.children].filter((w) => w.kind === "warp").sort((a, b) => waits(b) - waits(a)).slice(0, 1))) : below(cta, "warp");
    return groupRow(cta.name, [groupRow("stages of shared memory", below(cta, "stage")), groupRow("mbarriers", below(cta, "mbarrier")), ...warps,
      ...below(cta, "tma"), ...below(cta, "tensor_core")].filter((r) => r.children.length || r.slices.length));
  });
}

const stageStates = ["filling", "full", "reading", "free"];

// [array, {filling, full, reading, free}] in time, over all its stages.
export function stageTimes() {
  const sums = new Map();
  for (const row of model.rows) {
    if (row.kind !== "stage") continue;
    const sum = sums.get(family(row.name)) ?? { stages: new Set(), filling: 0, full: 0, reading: 0, free: 0 };
    sum.stages.add(row.name);
    for (const e of row.slices) sum[eventCategory(e)] += trace.length[e];
    sums.set(family(row.name), sum);
  }
  return [...sums];
}

function stageCard() {
  const times = stageTimes();
  if (!times.length) return null;
  return card("What the stages do", el("div", { class: "bars" }, times.map(([name, s]) => {
    const all = stageStates.reduce((sum, k) => sum + s[k], 0) || 1;
    return [el("span", {}, `${name} (${s.stages.size} stage${s.stages.size === 1 ? "" : "s"})`), bar(stageStates.map((k) => [s[k] / all, `var(--${k})`, `${k} ${percent(s[k] / all)}`])),
      el("span", { class: "value" }, `full ${percent(s.full / all)}, free ${percent(s.free / all)}`)];
  })), legend(stageStates.map((k) => [`var(--${k})`, k])),
  el("p", { class: "note" }, "Mostly full: the readers are slower. Mostly free or filling: the copies are slower, or are issued late."));
}

// The warpgroup (or warp) that an event belongs to.
function roleOf(e) {
  let row = eventRow(e);
  while (row && row.kind !== "role" && row.parent >= 0 && model.rows[row.parent].kind !== "cta") row = model.rows[row.parent];
  return row?.name ?? "";
}

// [{who, object, time (of a warp, on average), by}]: the longest first.
export function waits() {
  const sums = new Map(), completed = new Map();
  for (const row of model.rows) {
    if (row.kind !== "mbarrier") continue;
    for (const e of row.instants)
      for (const cause of model.into.get(e) ?? []) {
        const by = completed.get(family(row.name)) ?? new Map();
        const who = eventRow(cause).kind === "warp" ? roleOf(cause) : family(eventName(cause));
        by.set(who, (by.get(who) ?? 0) + 1);
        completed.set(family(row.name), by);
      }
  }
  for (const row of model.rows) {
    if (row.kind !== "warp") continue;
    const who = roleOf(row.slices[0] ?? row.instants[0] ?? -1);
    for (const [i, e] of row.slices.entries()) {
      if (eventCategory(e) !== "stall" || row.depths[i] > 0) continue;
      const name = eventName(e), tick = name.indexOf("`");
      if (tick < 0) continue;
      const key = `${who}\n${family(name.slice(tick))}`, sum = sums.get(key) ?? { time: 0, warps: new Set() };
      sum.time += trace.length[e];
      sum.warps.add(row.id);
      sums.set(key, sum);
    }
  }
  return [...sums].map(([key, s]) => {
    const [who, object] = key.split("\n");
    return { who, object, time: s.time / s.warps.size, by: [...(completed.get(object) ?? [])].sort((a, b) => b[1] - a[1]) };
  }).sort((a, b) => b.time - a.time);
}

function waitsCard() {
  const all = waits();
  if (!all.length) return null;
  const longest = all[0].time || 1;
  return card("Who waits for whom", table(["who waits", "for mbarrier", `#${unit} a warp`, "", "completed by"], all.slice(0, 24).map((w) =>
    [w.who, el("b", {}, w.object), grouped(w.time), bar([[w.time / longest, "var(--stall)", `${grouped(w.time)} ${unit}`]]),
      w.by.length ? w.by.slice(0, 4).map(([who, n]) => `${who} (${grouped(n)})`).join(", ") : "nothing in this window"])));
}

export function showPipeline(into) {
  if (!model) return false;
  const ctas = model.rows.filter((r) => r.kind === "cta" && (below(r, "stage").length || below(r, "mbarrier").length));
  if (!ctas.length) return false;
  const details = el("div", { class: "card", "aria-live": "polite" });
  const timeline = new Timeline({ roots: pipelineRoots(ctas.slice(0, 4)), height: Math.max(300, innerHeight - 460), label: "Stages and mbarriers over time; keys as in the timeline",
    onSelect: (e) => details.replaceChildren(...describe(e, timeline).flat(2)) });
  details.append(...describe(-1));
  into.append(timeline.element, legend([...stageStates.map((k) => [`var(--${k})`, k]), ["var(--phase)", "phase of an mbarrier"], ["var(--tensor)", "tensor core"], ["var(--copy)", "copy"]]), el("div", { class: "row" }, el("span", { class: "label" }, "A warp stalls:"), legend(stallLegend())),
    el("p", { class: "note" }, shownText()), details, el("div", { class: "two" }, [stageCard(), waitsCard()].filter(Boolean)));
  timeline.draw();
  into.timeline = timeline;
  return true;
}
