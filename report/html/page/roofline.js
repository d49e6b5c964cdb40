// The view "Where the time went": busy resources, what warps wait for, --why, the roofline.
import { bytes, clock, grouped, more, percent, plain, recorded, report, short } from "./data.js";
import { bar, bars, card, el, legend, stallColor, svg, table } from "./dom.js";

function busyCard() {
  const rows = Object.entries(clock.busy).filter(([, share]) => share > 0.0005).sort((a, b) => b[1] - a[1]);
  return card("Busy, share of the time", bars(rows.map(([name, share]) =>
    [plain(name), share, plain(name) === clock.critical ? "var(--accent)" : "var(--issue)", percent(share)])),
    el("p", { class: "note" }, `Most likely limited by: ${clock.limit}.`));
}

const warpList = (mask) => {
  const of = [...Array(32).keys()].filter((w) => mask >>> w & 1), parts = [];
  if (of.length === Math.ceil(report.block.reduce((a, b) => a * b, 1) / 32)) return "all warps";
  for (const w of of) if (parts.length && parts.at(-1)[1] === w - 1) parts.at(-1)[1] = w; else parts.push([w, w]);
  return parts.length ? "warps " + parts.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(", ") : "all warps";
};

function rolesCard() {
  const longest = Math.max(...clock.roles.map((r) => r.cycles), 1), reasons = new Set();
  const rows = clock.roles.map((r) => {
    const parts = Object.entries(r.stalls).filter(([, c]) => c > 0).sort((a, b) => b[1] - a[1]);
    parts.slice(0, 7).forEach(([reason]) => reasons.add(reason));
    return [el("span", {}, `${warpList(r.warps)}${r.operations ? ` (${r.operations})` : ""}`),
      bar(parts.map(([reason, c]) => [c / longest, stallColor(reason), `${plain(reason)} ${percent(c / r.cycles)}`])),
      el("span", { class: "value" }, percent(r.cycles / clock.warp_cycles))];
  });
  return card("By warps, share of all warps' cycles, and what they wait for", el("div", { class: "bars" }, rows),
    legend([...reasons].map((r) => [stallColor(r), r === "selected" ? "issuing" : plain(r)])));
}

function gainBars(gains) {
  if (!gains.length) return el("p", { class: "note" }, "No relaxation of the chip saves time.");
  const most = Math.max(...gains.map((g) => g.saved), 0.01);
  return el("div", { class: "bars why" }, gains.map((g) =>
    [el("span", {}, g.relaxation), bar([[g.saved / most, "var(--good)", `${g.relaxation}: ${percent(g.saved)} less`]]),
      el("span", { class: "value" }, `${percent(g.saved)} less, ${grouped(g.cycles)} cycles`), el("p", { class: "note" }, g.advice)]));
}

const together = (g) => `${percent(Math.abs(g.saved))} ${g.saved < 0 ? "more" : "less"} together, so not tried alone: ${g.relaxations.join(", ")}.`;

function whyCard() {
  const why = clock.why;
  if (!why) return card("What would help", el("p", { class: "note" }, "Not asked: --why runs the kernel again with parts of the chip relaxed."));
  return card("What would help: the same run with a part of the chip relaxed", gainBars(why.gains.filter((g) => g.saved > 0)),
    why.together.filter((g) => !g.tried_alone).map((g) => el("p", { class: "note" }, together(g))),
    el("p", { class: "note" }, `${why.runs} of at most ${why.most_runs} runs.`));
}

function adviceCard() {
  if (!clock.why) return null;
  return card("What an author would change, and what it follows from", table(["", "statement", "from"],
    clock.why.advice.map((a) => [a.about, a.text, a.from])));
}

const svgWidth = 640, svgHeight = 340, margin = { left: 62, right: 20, top: 16, bottom: 42 };

// Logarithmic axes: FLOP a byte, TFLOP/s.
export function roofline() {
  const chip = more?.chip;
  if (!chip?.tflops_16_bits || !clock.tensor_flops) return null;
  const bits = recorded?.operand_bits, peak = chip.tflops_16_bits * 16 / (bits || 16);
  const dram = clock.counters.dram_read_bytes + clock.counters.dram_write_bytes, l2 = 32 * (clock.counters.l2_read_sectors + clock.counters.l2_write_sectors);
  const points = [["HBM traffic", dram, "var(--copy)"], ["arrays, once", clock.array_bytes, "var(--tensor)"], ["L2 traffic", l2, "var(--filling)"]]
    .filter((p) => p[1] > 0).map(([name, size, fill]) => ({ name, fill, x: clock.tensor_flops / size, y: clock.tflops }));
  const x0 = Math.min(1, ...points.map((p) => p.x / 3)), x1 = Math.max(2000, ...points.map((p) => p.x * 3));
  const y0 = Math.min(peak / 1000, clock.tflops / 3), y1 = peak * 2;
  const px = (v) => margin.left + Math.log(v / x0) / Math.log(x1 / x0) * (svgWidth - margin.left - margin.right);
  const py = (v) => svgHeight - margin.bottom - Math.log(v / y0) / Math.log(y1 / y0) * (svgHeight - margin.top - margin.bottom);
  const powers = (a, b) => { const out = []; for (let e = Math.ceil(Math.log10(a)); 10 ** e <= b; ++e) out.push(10 ** e); return out; };
  const roof = (gb) => { const knee = peak * 1000 / gb; return `M${px(Math.max(x0, y0 * 1000 / gb))},${py(Math.max(y0, x0 * gb / 1000))} L${px(knee)},${py(peak)}`; };
  const label = (x, y, text, extra) => svg("text", { x, y, ...extra }, text);
  const at = (gb) => peak / 12 * 1000 / gb;  // where the roofs are labelled
  return svg("svg", { viewBox: `0 0 ${svgWidth} ${svgHeight}`, width: "100%", role: "img", "aria-label": `Roofline: ${clock.tflops.toFixed(1)} of ${peak.toFixed(0)} TFLOP/s` },
    powers(x0, x1).map((v) => [svg("line", { x1: px(v), x2: px(v), y1: margin.top, y2: svgHeight - margin.bottom, class: "axis" }), label(px(v), svgHeight - margin.bottom + 16, short(v), { "text-anchor": "middle", class: "soft" })]),
    powers(y0, y1).map((v) => [svg("line", { x1: margin.left, x2: svgWidth - margin.right, y1: py(v), y2: py(v), class: "axis" }), label(margin.left - 6, py(v) + 4, short(v), { "text-anchor": "end", class: "soft" })]),
    svg("path", { d: `${roof(chip.hbm_gb_per_s)} L${svgWidth - margin.right},${py(peak)}`, fill: "none", stroke: "var(--accent)", "stroke-width": 2 }),
    svg("path", { d: roof(chip.l2_gb_per_s), fill: "none", stroke: "var(--accent)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }),
    label(svgWidth - margin.right, py(peak) - 7, `tensor cores, ${bits || 16}-bit operands: ${peak.toFixed(0)} TFLOP/s`, { "text-anchor": "end" }),
    label(px(at(chip.hbm_gb_per_s)) + 8, py(peak / 12) + 10, `HBM ${short(chip.hbm_gb_per_s * 1e9)}B/s`),
    label(px(at(chip.l2_gb_per_s)) - 8, py(peak / 12), `L2 ${short(chip.l2_gb_per_s * 1e9)}B/s`, { "text-anchor": "end" }),
    points.map((p) => [svg("line", { x1: px(p.x), x2: px(p.x), y1: py(p.y), y2: svgHeight - margin.bottom, stroke: p.fill, "stroke-dasharray": "2 3" }),
      svg("circle", { cx: px(p.x), cy: py(p.y), r: 6, fill: p.fill, stroke: "var(--card)", "stroke-width": 1.5 },
        svg("title", {}, `${p.name}: ${short(p.x)} FLOP a byte, ${p.y.toFixed(1)} TFLOP/s`))]),
    label((svgWidth + margin.left) / 2, svgHeight - 6, "FLOP a byte", { "text-anchor": "middle", class: "soft" }),
    svg("text", { x: 12, y: svgHeight / 2, transform: `rotate(-90 12 ${svgHeight / 2})`, "text-anchor": "middle", class: "soft" }, "TFLOP/s"));
}

function rooflineCard() {
  const drawn = roofline();
  if (!drawn) {
    const gb = more?.chip?.hbm_gb_per_s;
    return card("Memory", gb ? bars([["arrays, once", clock.gb_per_s / gb, "var(--copy)", `${clock.gb_per_s.toFixed(0)} of ${gb.toFixed(0)} GB/s of HBM`]]) : null,
      el("p", { class: "note" }, "The kernel gives the tensor cores no work: there is no roofline."));
  }
  return card("Roofline", drawn, legend([["var(--copy)", "by HBM traffic"], ["var(--tensor)", "by arrays, each once"], ["var(--filling)", "by L2 traffic"]]),
    el("p", { class: "note" }, `${clock.tflops.toFixed(1)} TFLOP/s; ${bytes(clock.counters.dram_read_bytes + clock.counters.dram_write_bytes)} of HBM traffic. Roofs are the clock's parameters at ${clock.sm_clock_mhz} MHz.`));
}

export function showTime(into) {
  if (!clock) return false;
  into.append(el("div", { class: "two" }, el("div", {}, busyCard(), rolesCard()), el("div", {}, rooflineCard(), whyCard(), adviceCard())));
  return true;
}
