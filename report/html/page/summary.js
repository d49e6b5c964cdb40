// The view "Summary": what ran, its verdict, its figures.
import { bytes, clock, findings, grouped, percent, plain, report, short } from "./data.js";
import { card, el, go, table } from "./dom.js";

const dims = (d) => d.filter((n, i) => i === 0 || n > 1 || d.slice(i).some((m) => m > 1)).join(" × ");

export function verdict() {
  const word = report.sim?.verdict ?? report.verdict, reason = report.sim?.verdict_reason ?? report.verdict_reason;
  if (word) return [word, reason, word === "clean" ? "good" : word === "errors" ? "bad" : "warn"];
  const differ = [...(report.reference ?? []), ...(report.device_against_sim ?? [])].filter((c) => !c.ok);
  if (report.sim?.interrupted || report.interrupted) return ["interrupted", "", "warn"];
  if (report.sim && !report.sim.completed) return ["not completed", "", "bad"];
  if (findings.some((f) => f.severity === "error" && !f.suppressed)) return ["errors", `${findings.length} findings`, "bad"];
  if (differ.length) return ["outputs differ", differ.map((c) => c.output).join(", "), "bad"];
  if (report.command === "sweep") return ["timed", `${report.ranking.length} of ${report.configurations} configurations`, "good"];
  return ["completed", report.sim ? "no checks were requested" : "", "good"];
}

const figure = (label, big, ...notes) => el("div", { class: "card" }, el("div", { class: "label" }, label), el("div", { class: "big" }, big),
  notes.map((n) => el("div", { class: "note" }, n)));

function figures() {
  const [word, reason, style] = verdict();
  const out = [figure("verdict", el("span", { class: style }, word), reason)];
  if (clock) {
    out.push(figure("time", `${grouped(clock.cycles)} cycles`, `${clock.microseconds.toPrecision(4)} µs at ${clock.sm_clock_mhz} MHz, L2 ${clock.l2}`));
    if (clock.tflops) out.push(figure("work", `${clock.tflops.toFixed(1)} TFLOP/s`, `${clock.gb_per_s.toFixed(0)} GB/s: ${bytes(clock.array_bytes)} of arrays, once`));
    else out.push(figure("work", `${clock.gb_per_s.toFixed(0)} GB/s`, `${bytes(clock.array_bytes)} of arrays, once`));
    out.push(figure("most likely limited by", clock.limit.replace("waiting: ", "waits: "), `${clock.critical} busy ${percent(clock.busy[clock.critical.replaceAll(" ", "_")] ?? 0)}`));
    const o = clock.occupancy;
    out.push(figure("occupancy", `${o.ctas_per_sm} CTA${o.ctas_per_sm === 1 ? "" : "s"} an SM`, `${o.registers} registers a thread (${o.registers_from})`));
  } else if (report.sim) {
    out.push(figure("instructions", short(report.sim.instructions), `warp instructions of ${grouped(report.sim.ctas)} CTAs, schedule ${report.sim.schedule}`));
  }
  if (findings.length) out.push(figure("findings", el("button", { class: "link bad", type: "button", onclick: () => go("findings") }, String(findings.length)),
    [...new Set(findings.map((f) => f.code))].join(", ")));
  return el("div", { class: "grid" }, out);
}

function launch() {
  if (report.command === "sweep") return null;
  const rows = [["grid", dims(report.grid)], ["block", dims(report.block)]];
  if (report.cluster.some((n) => n > 1)) rows.push(["cluster", dims(report.cluster)]);
  if (report.dynamic_shared_bytes) rows.push(["shared memory", bytes(report.dynamic_shared_bytes)]);
  rows.push(["architecture", report.arch], ["entry", report.entry], ["seed", String(report.seed)]);
  for (const [name, value] of Object.entries(report.sizes ?? {})) rows.push([name, String(value)]);
  for (const [name, value] of Object.entries(report.settings ?? {})) rows.push([name, String(value)]);
  for (const i of report.inputs ?? []) rows.push([`input ${i.name}`, `${i.dtype}[${i.shape}]  ${i.contents}`]);
  return card("Launch", el("dl", { class: "details pairs" }, rows.map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)])));
}

function counters() {
  if (!clock) return null;
  const size = (k, v) => (k.includes("sectors") ? `${grouped(v)}  (${bytes(v * 32)})` : k.includes("bytes") ? bytes(v) : grouped(v));
  return card("Counters", table(["counter", "#value"], Object.entries(clock.counters).map(([k, v]) => [plain(k), size(k, v)])));
}

const comparisonText = (c) => c.bits_equal ? `equal bit by bit (${grouped(c.elements)} elements)`
  : `${grouped(c.differing)} of ${grouped(c.elements)} elements differ, ${grouped(c.outside_tolerance)} outside of the tolerance; at most ${grouped(c.max_ulps)} ulps, abs ${Number(c.max_abs).toPrecision(3)}`;

function outputs() {
  const outs = report.sim?.outputs ?? report.outputs ?? [], all = [...(report.reference ?? []), ...(report.device_against_sim ?? [])];
  if (!outs.length && !all.length) return null;
  return card("Outputs", outs.length ? table(["output", "type", "hash"], outs.map((o) => [o.name, `${o.dtype}[${o.shape}]`, el("code", {}, o.fnv1a)])) : null,
    all.map((c) => el("p", { class: c.ok ? "good" : "bad" }, `${c.output}${c.schedule ? ", " + c.schedule : ""}: ${comparisonText(c)}`)));
}

function coverage() {
  const c = report.sim?.coverage ?? report.schedules?.find((s) => s.coverage)?.coverage;
  if (!c) return null;
  const rows = [["accesses", grouped(c.accesses)], ["asynchronous operations", grouped(c.async_operations)],
    ["mbarrier phases", `${grouped(c.mbarrier_phases)}, ${grouped(c.forced_phases)} forced`], ["barrier generations", grouped(c.barrier_generations)]];
  if (c.decides_all_schedules !== undefined) rows.push(["decides for all schedules", c.decides_all_schedules ? "yes" : `no: ${c.undecided_reason}`]);
  for (const text of c.incomplete) rows.push(["incomplete", text]);
  return card("What was checked", table(["what", "#"], rows));
}

function schedules() {
  if (!report.schedules?.length) return null;
  return card("Schedules", el("div", { class: "scroll" }, table(["schedule", "#instructions", "#findings", "outcome"], report.schedules.map((s) =>
    [s.schedule, grouped(s.instructions), String(s.findings), s.interrupted ? "interrupted" : !s.completed ? el("span", { class: "bad" }, "not completed") : s.same_outputs ? "the same outputs" : el("span", { class: "bad" }, "other outputs")]))));
}

function printed() {
  const text = report.sim?.printed;
  return text?.length ? card("Printed", el("pre", {}, typeof text === "string" ? text : text.join(""))) : null;
}

export function showSummary(into) {
  into.append(figures());
  const cards = [launch(), counters(), outputs(), coverage(), schedules(), printed()].filter(Boolean);
  if (cards.length) into.append(el("div", { class: "two" }, cards));
  if (clock) into.append(el("p", { class: "note" }, (clock.clock_measured ? "" : "The clock of this chip was not compared with a device. ") + "Power throttling is not modelled: a chip under load may run slower."));
  return true;
}
