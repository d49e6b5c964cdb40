// The view "Sweep": configurations as a table that sorts by any column, and as a heat map over two settings.
import { grouped, percent, report } from "./data.js";
import { card, el } from "./dom.js";

const sweepAxes = () => Object.keys(report.combined);

function rankingTable() {
  const axes = sweepAxes(), best = report.ranking[0]?.cycles ?? 1, flops = report.ranking.some((t) => t.tflops > 0);
  const columns = [["rank", (t, i) => i + 1], ["cycles", (t) => t.cycles, (v) => grouped(v)], ["µs", (t) => t.microseconds, (v) => v.toPrecision(3)],
    flops ? ["TFLOP/s", (t) => t.tflops, (v) => v.toFixed(1)] : ["GB/s", (t) => t.gb_per_s, (v) => v.toFixed(0)],
    ["of best", (t) => best / t.cycles, percent], ["limited by", (t) => t.limit], ["busiest", (t) => `${t.critical} ${percent(t.busy)}`],
    ...axes.map((a) => [a, (t) => (isNaN(Number(t.settings[a])) ? t.settings[a] : Number(t.settings[a]))])];
  const rows = report.ranking.map((t, i) => columns.map(([, value]) => value(t, i)));
  const body = el("tbody", {});
  const fillRows = () => body.replaceChildren(...rows.map((cells) => el("tr", {}, cells.map((v, i) =>
    el("td", { class: typeof v === "number" ? "number" : undefined }, columns[i][2] ? columns[i][2](v) : String(v))))));
  let sorted = 0, direction = 1;
  const heads = columns.map(([name], i) => el("th", { scope: "col", class: typeof rows[0]?.[i] === "number" ? "number" : undefined, "aria-sort": i === 0 ? "ascending" : "none" },
    el("button", { type: "button", onclick: () => sortBy(i) }, name)));
  function sortBy(i) {
    direction = i === sorted ? -direction : 1;
    sorted = i;
    rows.sort((a, b) => (a[i] < b[i] ? -1 : a[i] > b[i] ? 1 : 0) * direction);
    heads.forEach((h, k) => h.setAttribute("aria-sort", k === i ? (direction > 0 ? "ascending" : "descending") : "none"));
    fillRows();
  }
  fillRows();
  return el("div", { class: "scroll" }, el("table", { class: "ranking" }, el("thead", {}, el("tr", {}, heads)), body));
}

// From slow to fast: a scale that reads in both themes.
export const heat = (share) => `hsl(${205 - 0 * share} ${40 + 45 * share}% ${88 - 50 * share}%)`;

function heatMap(x, y) {
  const best = Math.min(...report.ranking.map((t) => t.cycles)), worst = Math.max(...report.ranking.map((t) => t.cycles));
  const cell = (vx, vy) => {
    const fits = (t) => t.settings[x] === vx && (!y || t.settings[y] === vy);
    const timed = report.ranking.filter(fits)[0];  // the fastest of them: the ranking is sorted
    if (!timed) {
      const why = report.left_out.find(fits);
      return el("td", { class: "label", title: why ? `${why.code}: ${why.reason}` : "not run" }, "–");
    }
    const share = worst > best ? (worst - timed.cycles) / (worst - best) : 1;
    const settings = Object.entries(timed.settings).map(([k, v]) => `${k}=${v}`).join(" ");
    return el("td", { style: `background:${heat(share)};color:${share > 0.45 ? "#fff" : "#10202f"}`, title: `${settings}: ${grouped(timed.cycles)} cycles, ${timed.limit}` },
      grouped(timed.cycles), el("div", { style: "font-size:11px" }, percent(best / timed.cycles)));
  };
  return el("table", { class: "heatmap" }, el("thead", {}, el("tr", {}, el("th", {}, y ? `${y} ↓  ${x} →` : x), report.combined[x].map((v) => el("th", { scope: "col" }, v)))),
    el("tbody", {}, (y ? report.combined[y] : [""]).map((vy) => el("tr", {}, el("th", { scope: "row" }, vy), report.combined[x].map((vx) => cell(vx, vy))))));
}

function heatCard() {
  const axes = sweepAxes(), holder = el("div", { class: "scroll" });
  const wide = [...axes].sort((a, b) => report.combined[b].length - report.combined[a].length);
  const choice = (label, chosen, none) => el("select", { "aria-label": label, onchange: () => draw() },
    none ? el("option", { value: "" }, "(none)") : null, axes.map((a) => el("option", { value: a, selected: a === chosen }, a)));
  const x = choice("Columns", wide[0]), y = choice("Rows", wide[1], true);
  const draw = () => holder.replaceChildren(heatMap(x.value, y.value === x.value ? "" : y.value));
  draw();
  return card("Cycles of the fastest configuration", el("div", { class: "row" }, el("label", {}, "columns ", x), el("label", {}, "rows ", y)), holder,
    el("p", { class: "note" }, "Darker is faster. A dash has no time; its tooltip says why."));
}

function leftOutCard() {
  if (!report.left_out.length) return null;
  const reasons = new Map();
  for (const t of report.left_out) {
    const why = t.code ? `${t.code}: ${t.reason}` : t.reason;
    reasons.set(why, [...(reasons.get(why) ?? []), Object.entries(t.settings).map(([k, v]) => `${k}=${v}`).join(" ")]);
  }
  return card("Left out", [...reasons].map(([why, which]) => el("div", {}, el("b", {}, why), el("p", { class: "note" }, which.join("; ")))));
}

export function showSweep(into) {
  if (report.command !== "sweep") return false;
  if (report.ranking.length) into.append(heatCard(), card(`${report.ranking.length} configurations`, rankingTable()));
  into.append(leftOutCard() ?? "");
  return true;
}
