// The view "Differences": where an output differs from its reference or from the device, and by how much.
import { grouped, more, report } from "./data.js";
import { card, color, el, hideTooltip, legend, onRedraw, pointByKeys, showTooltip, sized } from "./dom.js";

const errorOf = (v) => (typeof v === "number" ? v : Infinity);

function errorPicture(m, name) {
  const side = Math.max(4, Math.min(16, Math.floor(560 / m.across), Math.floor(460 / m.down)));
  const canvas = el("canvas", { role: "img", "aria-label": `Error map of ${name}` });
  const largest = Math.max(...m.cells.map((c) => (Number.isFinite(errorOf(c[3])) ? errorOf(c[3]) : 0)), 1e-300);
  const draw = () => {
    const g = sized(canvas, m.across * side, m.down * side), good = color("free"), warn = color("filling"), bad = color("bad");
    m.cells.forEach(([elements, differing, outside, error], i) => {
      const x = (i % m.across) * side, y = Math.floor(i / m.across) * side;
      g.globalAlpha = 1; g.fillStyle = good; g.fillRect(x, y, side - 0.5, side - 0.5);
      if (!differing || !elements) return;
      g.globalAlpha = 0.25 + 0.75 * Math.min(1, errorOf(error) / largest);
      g.fillStyle = outside ? bad : warn; g.fillRect(x, y, side - 0.5, side - 0.5);
    });
    g.globalAlpha = 1; g.strokeStyle = color("text"); g.lineWidth = 2;
    const [r, c] = m.first;
    g.strokeRect(Math.floor(c / m.cell_columns) * side - 1, Math.floor(r / m.cell_rows) * side - 1, side + 1.5, side + 1.5);
  };
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect(), c = Math.floor((event.clientX - box.left) / box.width * m.across), r = Math.floor((event.clientY - box.top) / box.height * m.down);
    const cell = m.cells[r * m.across + c];
    if (!cell) return hideTooltip();
    const range = (at, size, all) => (size === 1 ? String(at) : `${at}..${Math.min(all, at + size) - 1}`);
    showTooltip(event, el("b", {}, `rows ${range(r * m.cell_rows, m.cell_rows, m.rows)}, columns ${range(c * m.cell_columns, m.cell_columns, m.columns)}`),
      `${grouped(cell[1])} of ${grouped(cell[0])} differ, ${grouped(cell[2])} outside of the tolerance\nlargest error ${errorOf(cell[3])}`);
  });
  canvas.addEventListener("pointerleave", hideTooltip);
  pointByKeys(canvas, [0, 0], () => [side, side]);
  draw();
  onRedraw(draw);
  return el("div", { class: "cells" }, canvas);
}

function nearTable(m) {
  const near = m.near, columns = near.got[0]?.length ?? 0;
  const [row, column] = m.first;
  return el("div", { class: "scroll" }, el("table", { class: "near" },
    el("thead", {}, el("tr", {}, el("th", {}, ""), [...Array(columns).keys()].map((c) => el("th", { class: "number" }, String(near.column + c))))),
    el("tbody", {}, near.got.map((gots, r) => el("tr", {}, el("th", { scope: "row" }, String(near.row + r)), gots.map((got, c) =>
      el("td", { class: `number d${near.bad[r][c]}`, style: near.row + r === row && near.column + c === column ? "outline:2px solid var(--text)" : undefined, title: `wanted ${near.wanted[r][c]}` },
        got, near.bad[r][c] ? el("div", { class: "label" }, near.wanted[r][c]) : null)))))));
}

export function showErrors(into) {
  const maps = more?.error_maps ?? [];
  if (!maps.length) return false;
  const comparisons = [...(report.reference ?? []), ...(report.device_against_sim ?? [])].filter((c) => !c.bits_equal);
  maps.forEach(({ output, map }, i) => {
    const c = comparisons[i], first = c?.first;
    into.append(el("div", { class: "two" }, card(`${output} [${map.shape}]`, errorPicture(map, output),
      legend([["var(--free)", "equal bits"], ["var(--filling)", "within the tolerance"], ["var(--bad)", "outside"]]),
      el("p", { class: "note" }, `${map.rows} rows, ${map.columns} columns; a cell is ${map.cell_rows} × ${map.cell_columns} elements. The frame is the first mismatch.`)),
    card("Around the first mismatch", first ? el("p", {}, `at [${first.index}]: ${first.got} (${first.got_bits}), wanted ${first.wanted} (${first.wanted_bits})`) : null,
      nearTable(map), el("p", { class: "note" }, "What was computed; below it what was wanted, where the bits differ."))));
  });
  return true;
}
