// #selftest: visits every view and writes what it found into the page, a line a check: "ok ..." or "FAILED ...".
import { absentMemory, absentViews } from "./absent.js";
import { clock, findings, grouped, more, recorded, report, trace } from "./data.js";
import { el } from "./dom.js";
import { isWaitGraph, waitGraph } from "./graph.js";
import { addressOf, filledObjects, holder, passesOf, tensorPictures } from "./memory.js";
import { verdict } from "./summary.js";
import { eventCategory, eventLabel, eventName, model } from "./tracks.js";

// More than one colour was drawn.
function isDrawn(canvas) {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), colors = new Set();
  for (let i = 0; i < data.length && colors.size < 3; i += 4) colors.add(data[i] << 16 | data[i + 1] << 8 | data[i + 2]);
  return colors.size >= 3;
}

function checkViews(check, sections, showView) {
  for (const [name, section] of sections) {
    showView(name);
    check(`view ${name} is shown`, !section.hidden && section.textContent.trim().length > 20);
    for (const canvas of section.querySelectorAll("canvas")) check(`view ${name}: ${canvas.getAttribute("aria-label").slice(0, 40)}`, canvas.width > 1 && isDrawn(canvas));
  }
}

function checkNumbers(check, sections) {
  const summary = sections.get("summary").textContent;
  check("verdict", summary.includes(verdict()[0]));
  if (clock) {
    check("cycles", summary.includes(grouped(clock.cycles) + " cycles"), clock.cycles);
    for (const [key, value] of Object.entries(clock.counters)) if (!key.includes("bytes")) check(`counter ${key}`, summary.includes(grouped(value)));
    const time = sections.get("time").textContent;
    for (const gain of clock.why?.gains ?? []) if (gain.saved > 0) check(`relaxation ${gain.relaxation}`, time.includes(gain.relaxation) && time.includes(grouped(gain.cycles)));
    for (const advice of clock.why?.advice ?? []) check(`advice ${advice.about}`, time.includes(advice.from) && time.includes(advice.text.split("\n")[0]));
    check("last event within the kernel's cycles", !trace || model.last <= clock.cycles, model?.last);
  }
  for (const o of report.sim?.outputs ?? report.outputs ?? []) check(`hash of ${o.name}`, summary.includes(o.fnv1a));
  const cards = [...(sections.get("findings")?.querySelectorAll(".finding") ?? [])];
  check("findings", cards.length === findings.length, cards.length);
  findings.forEach((f, i) => {
    check(`finding ${f.code}`, cards[i].textContent.includes(f.code) && f.sites.every((s) => cards[i].textContent.includes(s.instruction)));
    if (isWaitGraph(f)) { const g = waitGraph(f); check(`wait-for graph of ${f.code}`, cards[i].querySelector("svg") && g.edges.length === f.waits.length && f.waits.every((wait, w) => g.objects[g.edges[w][1]].name === wait.object && wait.arrivers.every((q) => q.site === undefined || g.back.some(([o, to]) => o === g.edges[w][1] && g.waiters[to].wait.site === q.site)))); }
    else if (f.sites.length > 1 && f.missing) check(`missing edge of ${f.code}`, cards[i].querySelector(".edge") !== null);
  });
}

const key = (timeline, name) => timeline.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true }));

function checkTimeline(check, name, section) {
  const t = section.timeline, span = () => t.to - t.from;
  t.reset();
  const whole = span();
  key(t, "w");
  check(`${name}: key w zooms in`, span() < whole * 0.9);
  key(t, "s");
  t.reset();
  const box = t.canvas.getBoundingClientRect();
  t.canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -100, clientX: box.left + t.labelWidth + 200, clientY: box.top + 60, bubbles: true, cancelable: true }));
  check(`${name}: the wheel zooms in`, span() < whole * 0.95);
  const from = t.from;
  key(t, "d");
  check(`${name}: key d moves right`, t.from > from);
  key(t, "0");
  check(`${name}: key 0 shows all`, Math.abs(span() - whole) < whole * 0.01);
  const row = t.rows.find((r) => r.row.slices.length)?.row, e = row.slices[row.slices.length >> 1];
  t.select(e, true);
  t.focusSelected();
  const r = t.index.get(row.id);
  check(`${name}: what is drawn can be pointed at`, t.hit(t.x((trace.at[e] + model.end(e)) / 2), t.top + r.y + row.depths[row.slices.indexOf(e)] * 19 + 8) === e, eventName(e));
  const joined = [...model.into.keys()].find((q) => t.index.has(model.rows[trace.track[q]].id));
  if (joined !== undefined) { t.select(joined, true); check(`${name}: a selection has arrows`, t.pairs.length > 0); }
  t.select(-1);
  t.reset();
}

// What still waits when the run ends, and what the phases say.
function checkOpen(check, t) {
  for (const e of model.open) {
    t.select(e, true);
    const said = t.element.parentElement.textContent, m = model.more.get(e);
    check(`open: ${eventLabel(e)}`, said.includes(eventLabel(e)) && said.includes(`since ${grouped(trace.at[e])}, ${m.open}`) && model.end(e) >= model.last - 2 && (m.since === undefined || m.since <= trace.at[e]), m.since);
  }
  const phases = trace.at.map((_, e) => e).filter((e) => eventCategory(e) === "phase" && trace.length[e] >= 0);
  check("phases say their number, arrivals and bytes", phases.every((e) => {
    const m = model.more.get(e), label = eventLabel(e);
    return label.startsWith(`phase ${m.phase},`) && (m.bytes === 0 || label.includes(`${grouped(m.bytes)} bytes`)) && (m.arrivals === 0 || label.includes(`${grouped(m.arrivals)} arrival`));
  }));
  t.select(-1);
  key(t, "]");
  const first = t.selected;
  t.canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", shiftKey: true, bubbles: true, cancelable: true }));
  check("keys alone select a slice, and one of another row", first >= 0 && (t.rows.filter((r) => r.row.slices.length).length < 2 || trace.track[t.selected] !== trace.track[first]));
  t.select(-1);
  t.reset();
}

// A view, or a part of the memory view, is there or there is a sentence that says why not.
function checkAbsent(check, sections) {
  const summary = sections.get("summary").textContent;
  for (const [view, [title, why]] of Object.entries(absentViews(sections))) check(`absent: ${title}: ${why}`, !sections.has(view) && why.endsWith(".") && summary.includes(title + why));
  if (!sections.has("memory")) return;
  const memory = sections.get("memory"), cards = [...memory.querySelectorAll("h2")].map((h) => h.textContent).join("\n");
  for (const [part, why] of absentMemory()) check(`absent: ${part}: ${why}`, !cards.includes(part) && memory.textContent.includes(part + why));
  check("tensor memory: every rectangle is drawn", tensorPictures().reduce((n, [, rs]) => n + rs.length, 0) === (recorded?.tensor_memory ?? []).length);
}

// Beside the lines of every file: shares and conflicts add up to the JSON's.
function checkSource(check, section) {
  const conflicts = (recorded?.accesses ?? []).reduce((n, a) => n + a.extra, 0), choice = section.querySelector("select");
  let shown = 0, shares = 0;
  for (const option of choice.options) {
    choice.value = option.value;
    choice.dispatchEvent(new Event("change"));
    for (const cell of section.querySelectorAll(".line:not(.head) .conflict")) shown += Number(cell.textContent.replace(/[^0-9]/g, ""));
    shares += section.querySelectorAll(".line:not(.head) .share:not(:empty)").length;
  }
  choice.value = choice.options[0].value;
  choice.dispatchEvent(new Event("change"));
  check("source: bank conflicts beside the lines", shown === conflicts, `${shown} of ${conflicts}`);
  check("source: shares beside the lines", !clock || shares > 0);
  const source = section.querySelector(".source"), long = [...source.querySelectorAll(".line")].at(-1);
  check("source: a line is as wide as the longest", long.offsetWidth >= Math.min(source.clientWidth, 300) && source.scrollWidth >= long.offsetWidth - 2, `${source.scrollWidth} ${long.offsetWidth}`);
}

function checkSearch(check, section) {
  const word = trace.texts.find((t) => /mbarrier|barrier|wait|load|store|:\d/.test(t)) ?? trace.texts[0];
  section.search.value = word;
  section.search.dispatchEvent(new Event("input"));
  const expected = trace.at.filter((_, e) => eventName(e).toLowerCase().includes(word.toLowerCase())).length;
  check("search finds what the names say", section.timeline.matches.size >= expected && expected > 0, `${word}: ${section.timeline.matches.size} of ${expected}`);
  section.search.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
  check("search selects a match", section.timeline.matches.has(section.timeline.selected));
  section.search.value = "";
  section.search.dispatchEvent(new Event("input"));
  section.timeline.select(-1);
}

// Arrow keys point at the cells of every picture; Escape ends it.
function checkKeys(check, section) {
  const tooltip = document.getElementById("tooltip");
  for (const canvas of section.querySelectorAll(".cells canvas")) {
    const press = (key) => canvas.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const texts = new Set();
    for (const key of ["ArrowDown", ...Array(40).fill("ArrowRight"), ...Array(40).fill("ArrowDown")]) { press(key); if (!tooltip.hidden) texts.add(tooltip.textContent); }
    press("Escape");
    check(`keys point: ${canvas.getAttribute("aria-label").slice(0, 60)}`, texts.size > 0 && tooltip.hidden, `${texts.size} cells`);
  }
}

function checkMemory(check) {
  for (const t of recorded?.tiles ?? []) check(`addresses of a tile, swizzle ${t.swizzle}`, t.samples.every(([i, address]) => addressOf(t, i) === address));
  const plainAccesses = (recorded?.accesses ?? []).filter((a) => a.passes && !/atom|red/.test(recorded.instructions[a.pc][0]));
  check("passes of accesses", plainAccesses.every((a) => passesOf(a) === a.passes), JSON.stringify(plainAccesses.find((a) => passesOf(a) !== a.passes) ?? ""));
  if (recorded?.filled) {
    const f = recorded.filled, shown = filledObjects().reduce((n, o) => n + o.chunks.length, 0);
    check("what threads fill", shown === f.chunks.length && f.lanes.every((l) => l < 32), `${shown} of ${f.chunks.length}`);
  }
  for (const f of recorded?.fragments ?? []) {
    const held = new Set();
    for (let r = 0; r < f.rows; ++r) for (let c = 0; c < f.columns; ++c) { const h = holder(f, r, c); held.add(`${h.lane} ${h.register} ${h.part}`); }
    check(`every element of ${f.name} has a holder of its own`, held.size === f.rows * f.columns);
  }
}

function checkErrors(check, section) {
  const comparisons = [...(report.reference ?? []), ...(report.device_against_sim ?? [])].filter((c) => !c.bits_equal);
  (more?.error_maps ?? []).forEach(({ output, map }, i) => {
    const sum = (k) => map.cells.reduce((n, cell) => n + cell[k], 0), c = comparisons[i];
    check(`differences of ${output}`, sum(0) === map.rows * map.columns && sum(1) === c.differing && sum(2) === c.outside_tolerance, `${sum(1)} of ${c.differing}`);
    check(`differences of ${output}: the first mismatch`, section.textContent.includes(`at [${c.first.index}]: ${c.first.got}`));
  });
}

function checkSweep(check, section) {
  if (!report.ranking?.length) return;
  const table = section.querySelector(".ranking"), first = (i) => table.tBodies[0].rows[0].cells[i].textContent;
  check("sweep: a row a configuration", table.tBodies[0].rows.length === report.ranking.length);
  check("sweep: the fastest is first", first(1) === grouped(report.ranking[0].cycles));
  table.tHead.querySelectorAll("button")[1].click();
  table.tHead.querySelectorAll("button")[1].click();
  check("sweep: a click sorts", first(1) === grouped(Math.max(...report.ranking.map((t) => t.cycles))));
  check("sweep: heat map", section.querySelectorAll(".heatmap td").length > 0);
}

function checkTheme(check) {
  const theme = () => document.documentElement.dataset.theme, was = theme();
  document.getElementById("theme").click();
  check("the theme changes", theme() !== was);
  document.getElementById("theme").click();
}

export function runSelftest(sections, showView) {
  const lines = [];
  const check = (name, ok, detail) => lines.push(ok ? `ok ${name}` : `FAILED ${name}${detail === undefined ? "" : `: ${detail}`}`);
  try {
    checkViews(check, sections, showView);
    checkNumbers(check, sections);
    for (const name of ["timeline", "pipeline"]) if (sections.has(name)) { showView(name); checkTimeline(check, name, sections.get(name)); }
    if (sections.has("timeline")) { showView("timeline"); checkSearch(check, sections.get("timeline")); }
    if (sections.has("timeline")) checkOpen(check, sections.get("timeline").timeline);
    if (sections.has("source")) { showView("source"); checkSource(check, sections.get("source")); }
    checkAbsent(check, sections);
    checkMemory(check);
    for (const name of ["memory", "errors"]) if (sections.has(name)) { showView(name); checkKeys(check, sections.get(name)); }
    if (sections.has("errors")) checkErrors(check, sections.get("errors"));
    if (sections.has("sweep")) checkSweep(check, sections.get("sweep"));
    checkTheme(check);
  } catch (error) {
    check("no exception", false, error.stack);
  }
  for (const error of window.pageErrors) check("no error in the console", false, error);
  const failed = lines.filter((l) => l.startsWith("FAILED")).length;
  document.body.append(el("pre", { id: "selftest" }, [...lines, `selftest: ${lines.length} checks, ${failed} failed, views: ${[...sections.keys()].join(" ")}`].join("\n")));
}
