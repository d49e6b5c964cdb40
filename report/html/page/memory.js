// The view "Memory": tiles as their author sees them and as they lie in swizzled shared memory, accesses to
// banks, tensor memory, and which lane holds which element of an accumulator.
import { absentMemory } from "./absent.js";
import { grouped, instruction, more, placeOf, placeText, recorded } from "./data.js";
import { card, color, el, go, hideTooltip, isDark, legend, onGo, onRedraw, pointByKeys, showTooltip, sized } from "./dom.js";

const hex = (n) => "0x" + n.toString(16);
const hue = (i, of) => `hsl(${Math.round(i * 360 / of)} ${isDark() ? "48% 42%" : "62% 72%"})`;

// ---- tiles -------------------------------------------------------------------------------------
// The shared address of element i of a tile, innermost dimension first: the swizzle moves chunks by an XOR.
export function addressOf(tile, i) {
  let address = tile.offset + i * tile.element_bytes;
  const line = address >>> 7;
  address ^= (line & tile.swizzle_mask) << tile.swizzle_shift;
  if (tile.swizzle.endsWith("FLIP_8B")) address ^= (line & 1) << 3;
  return address;
}

function objectAt(offset) { return recorded.objects.find((o) => offset >= o.offset && offset < o.offset + o.bytes); }
const tileElements = (tile) => tile.box.reduce((a, b) => a * b, 1);
function tileName(tile) {
  const o = objectAt(tile.offset), size = tileElements(tile) * tile.element_bytes;
  if (!o) return hex(tile.offset);
  const at = tile.offset - o.offset;
  return o.name + (o.bytes > size && at % size === 0 ? ` part ${at / size}` : at ? ` + ${hex(at)}` : "");
}

const most = 8192;  // chunks that are drawn

// The tile's 16-byte chunks: where each begins in the tile and in memory.
function chunksOf(tile) {
  const per = Math.max(1, 16 / tile.element_bytes), n = Math.min(most, Math.ceil(tileElements(tile) / per)), base = tile.offset & ~127;
  const across = Math.max(1, Math.ceil(tile.box[0] / per));
  const chunks = [];
  for (let k = 0; k < n; ++k) chunks.push({ element: k * per, row: Math.floor(k / across), column: k % across, place: (addressOf(tile, k * per) - base) >> 4 });
  return { per, across, base, chunks, cut: n * per < tileElements(tile) };
}

const cellHeight = 17;

function tileCard() {
  const tiles = recorded.tiles;
  if (!tiles.length) return null;
  const choice = el("select", { "aria-label": "Tile", onchange: () => open(tiles[choice.value]) }, tiles.map((t, i) =>
    el("option", { value: i }, `${tileName(t)}: ${t.element.toLowerCase()} ${[...t.box].reverse().join(" × ")}, swizzle ${t.swizzle}, ${t.load ? "load" : "store"}`)));
  const by = el("select", { "aria-label": "Colours", onchange: () => drawAll() }, el("option", { value: "column" }, "colour: the author's column of 16 bytes"), el("option", { value: "bank" }, "colour: banks"));
  const seen = el("canvas", { role: "img", "aria-label": "The tile as its author sees it" }), lies = el("canvas", { role: "img", "aria-label": "The tile in shared memory" });
  const note = el("p", { class: "note" });
  let tile, t, hot = -1;
  const seenWidth = () => Math.max(9, Math.min(60, Math.floor(540 / t.across)));
  const liesWidth = 60, gutter = 44;
  const shade = (c) => (by.value === "bank" ? hue(c.place % 8, 8) : hue(c.column, Math.max(8, t.across)));
  const cell = (g, x, y, w, c, text) => {
    g.fillStyle = shade(c);
    g.fillRect(x, y, w - 1, cellHeight - 1);
    if (c.element === hot * t.per) { g.strokeStyle = color("text"); g.lineWidth = 2; g.strokeRect(x + 1, y + 1, w - 3, cellHeight - 3); }
    if (w > 14) { g.fillStyle = color("text"); g.fillText(text, x + 4, y + cellHeight / 2); }
  };
  const drawAll = () => {
    if (!tile) return;
    const rows = Math.max(...t.chunks.map((c) => c.row)) + 1, w = seenWidth();
    const g = sized(seen, gutter + t.across * w, rows * cellHeight + 18);
    const lines = Math.max(...t.chunks.map((c) => c.place >> 3)) + 1, h = sized(lies, gutter + 8 * liesWidth, lines * cellHeight + 18);
    for (const q of [g, h]) { q.font = "10.5px ui-monospace, 'DejaVu Sans Mono', monospace"; q.textBaseline = "middle"; q.fillStyle = color("soft"); }
    for (let c = 0; c < t.across; ++c) if (w > 24 || c % 8 === 0) g.fillText(String(c * t.per), gutter + c * w + 2, 8);
    for (let c = 0; c < 8; ++c) h.fillText(`b ${c * 4}-${c * 4 + 3}`, gutter + c * liesWidth + 2, 8);
    for (let r = 0; r < rows; ++r) g.fillText(String(r), 2, 18 + r * cellHeight + cellHeight / 2);
    for (let r = 0; r < lines; ++r) { h.fillStyle = color("soft"); h.fillText(hex(t.base + r * 128), 0, 18 + r * cellHeight + cellHeight / 2); }
    for (const c of t.chunks) {
      cell(g, gutter + c.column * w, 18 + c.row * cellHeight, w, c, `b${c.place % 8 * 4}`);
      cell(h, gutter + (c.place % 8) * liesWidth, 18 + (c.place >> 3) * cellHeight, liesWidth, c, `${c.row},${c.column * t.per}`);
    }
  };
  const point = (canvas, find) => {
    canvas.addEventListener("pointermove", (event) => {
      const c = find(event.offsetX - gutter, event.offsetY - 18);
      if ((c ? c.element / t.per : -1) !== hot) { hot = c ? c.element / t.per : -1; drawAll(); }
      if (!c) return hideTooltip();
      const i = c.element + c.part, column = i % tile.box[0], outer = Math.floor(i / tile.box[0]), address = addressOf(tile, i);
      showTooltip(event, el("b", {}, `element [${outer}, ${column}]`), `shared address ${hex(address)}, ${address - tile.offset} bytes from the tile's start\nbank ${(address >> 2) & 31}, chunk ${(address >> 4) & 7} of its 128-byte line\nwithout a swizzle: ${hex(tile.offset + i * tile.element_bytes)}, bank ${((tile.offset + i * tile.element_bytes) >> 2) & 31}`);
    });
    canvas.addEventListener("pointerleave", () => { hot = -1; hideTooltip(); drawAll(); });
  };
  pointByKeys(seen, [gutter, 18], () => [seenWidth(), cellHeight]);
  pointByKeys(lies, [gutter, 18], () => [liesWidth, cellHeight]);
  const part = (x, w) => Math.min(t.per - 1, Math.max(0, Math.floor((x % w) / w * t.per)));
  point(seen, (x, y) => { const w = seenWidth(), column = Math.floor(x / w), row = Math.floor(y / cellHeight); const c = x < 0 || y < 0 || column >= t.across ? null : t.chunks[row * t.across + column]; return c && { ...c, part: part(x, w) }; });
  point(lies, (x, y) => { if (x < 0 || y < 0) return null; const at = Math.floor(y / cellHeight) * 8 + Math.floor(x / liesWidth), c = t.chunks.find((q) => q.place === at); return c && { ...c, part: part(x, liesWidth) }; });
  const open = (chosen) => {
    tile = chosen;
    t = chunksOf(tile);
    const i = instruction(tile.pc), p = placeOf(i);
    note.replaceChildren(`${tile.load ? "Loaded" : "Stored"} by `, p ? el("button", { class: "link", type: "button", onclick: () => go("source", p) }, placeText(p)) : "", ` ${i?.text ?? ""}`, t.cut ? ` Shown: the first ${grouped(most)} chunks of 16 bytes.` : "");
    drawAll();
  };
  onRedraw(drawAll);
  open(tiles[0]);
  return card("Tiles that TMA moves", el("div", { class: "row" }, choice, by), el("div", { class: "two" },
    el("div", {}, el("h3", {}, "As the author sees it: rows of elements; b: the first bank of each 16 bytes"), el("div", { class: "cells" }, seen)),
    el("div", {}, el("h3", {}, "As it lies: lines of 128 bytes, 32 banks (b); row,column of each 16 bytes"), el("div", { class: "cells" }, lies))), note,
    recorded.tiles_not_shown ? el("p", { class: "note" }, `${grouped(recorded.tiles_not_shown)} copies are not drawn: im2col, interleaved or packed elements.`) : null);
}

// ---- banks -------------------------------------------------------------------------------------
// The lanes that one group of passes serves: all for 4 bytes and less, halves for 8, quarters for 16.
const groupOf = (lane, size) => (size <= 4 ? 0 : size === 8 ? lane >> 4 : lane >> 3);

// Cells [lane, bank, word, group, conflict] of an access.
export function bankCells(a) {
  const cells = [];
  for (let lane = 0; lane < 32; ++lane) {
    if (!(a.lanes >>> lane & 1)) continue;
    for (let w = 0; w < Math.max(1, a.bytes / 4); ++w) {
      const word = (a.offsets[lane] >>> 2) + w;
      cells.push({ lane, word, bank: word & 31, group: groupOf(lane, a.bytes), conflict: false });
    }
  }
  for (const c of cells) c.conflict = cells.some((o) => o.group === c.group && o.bank === c.bank && o.word !== c.word);
  return cells;
}
// Passes of a load or a store, counted from the cells.
export function passesOf(a) {
  const words = new Map();
  for (const c of bankCells(a)) { const key = c.group * 32 + c.bank; words.set(key, (words.get(key) ?? new Set()).add(c.word)); }
  let sum = 0;
  for (let group = 0; group < 4; ++group) {
    const counts = [...words].filter(([key]) => key >> 5 === group).map(([, set]) => set.size);
    if (counts.length) sum += Math.max(...counts);
  }
  return sum;
}

function bankCard() {
  const all = [...recorded.accesses].sort((a, b) => b.extra - a.extra || b.passes - a.passes || a.pc - b.pc);
  if (!all.length) return null;
  const choice = el("select", { "aria-label": "Instruction", onchange: () => open(all[choice.value]) }, all.slice(0, 200).map((a, i) => {
    const q = instruction(a.pc);
    return el("option", { value: i }, `${a.extra ? `+${grouped(a.extra)} passes: ` : ""}${placeText(placeOf(q))} ${q?.text.slice(0, 60) ?? ""}`);
  }));
  const canvas = el("canvas", { role: "img", "aria-label": "Lanes and banks of an access" }), note = el("p", { class: "note" }), side = 15, edge = 44;
  let access;
  const draw = () => {
    if (!access) return;
    const g = sized(canvas, edge + 32 * side, 18 + 32 * side), free = color("faint");
    g.font = "10px ui-monospace, 'DejaVu Sans Mono', monospace"; g.textBaseline = "middle";
    g.fillStyle = color("soft");
    for (let b = 0; b < 32; b += 4) g.fillText(`b${b}`, edge + b * side, 8);
    for (let l = 0; l < 32; l += 4) g.fillText(`lane ${l}`, 0, 18 + l * side + side / 2);
    g.fillStyle = free;
    for (let l = 0; l < 32; ++l) for (let b = 0; b < 32; ++b) g.fillRect(edge + b * side, 18 + l * side, side - 1, side - 1);
    for (const c of bankCells(access)) { g.fillStyle = c.conflict ? color("bad") : hue(c.group * 2 + 4, 9); g.fillRect(edge + c.bank * side, 18 + c.lane * side, side - 1, side - 1); }
  };
  canvas.addEventListener("pointermove", (event) => {
    const bank = Math.floor((event.offsetX - edge) / side), lane = Math.floor((event.offsetY - 18) / side), c = bankCells(access).find((q) => q.bank === bank && q.lane === lane);
    if (!c) return hideTooltip();
    const rivals = bankCells(access).filter((o) => o.group === c.group && o.bank === c.bank && o.word !== c.word).map((o) => o.lane);
    showTooltip(event, el("b", {}, `lane ${lane}, bank ${bank}`), `shared address ${hex(c.word * 4)}${rivals.length ? `\nanother word of this bank: lanes ${[...new Set(rivals)].join(", ")}` : "\nno conflict"}`);
  });
  canvas.addEventListener("pointerleave", hideTooltip);
  pointByKeys(canvas, [edge, 18], () => [side, side]);
  const open = (a) => {
    access = a;
    const q = instruction(a.pc), p = placeOf(q);
    note.replaceChildren(el("b", {}, `The worst access takes ${a.passes} pass${a.passes === 1 ? "" : "es"}; as many lanes need at least ${a.fewest}. `),
      `${grouped(a.warps)} accesses of a warp in the recorded CTAs, ${grouped(a.extra)} extra passes in all. `, p ? el("button", { class: "link", type: "button", onclick: () => go("source", p) }, placeText(p)) : "", el("code", { class: "code-line" }, q?.text ?? ""));
    draw();
  };
  onRedraw(draw);
  open(all[0]);
  onGo("memory", (pc) => { const i = all.findIndex((a) => a.pc === pc); if (i >= 0) { choice.value = i; open(all[i]); canvas.scrollIntoView({ block: "center" }); } });
  return card("Lanes and banks", el("div", { class: "row" }, choice), el("div", { class: "cells" }, canvas), legend([["var(--bad)", "another word of the same bank in the same pass"]]), note);
}

// ---- filled by threads -------------------------------------------------------------------------
// Named arrays of which threads fill a part: {name, offset, bytes, chunks: indices into recorded.filled}.
export function filledObjects() {
  const f = recorded.filled, found = new Map();
  f.chunks.forEach((chunk, i) => {
    const o = objectAt(chunk * 16) ?? { name: "shared memory", offset: 0, bytes: 0 };
    if (!found.has(o)) found.set(o, { name: o.name, offset: o.offset, bytes: o.bytes, chunks: [] });
    found.get(o).chunks.push(i);
  });
  return [...found.values()];
}

function filledCard() {
  const all = filledObjects(), f = recorded.filled;
  if (!all.length) return null;
  const choice = el("select", { "aria-label": "Array", onchange: () => open(all[choice.value]) }, all.map((o, i) => el("option", { value: i }, `${o.name}: ${grouped(o.chunks.length)} × 16 bytes`)));
  const canvas = el("canvas", { role: "img", "aria-label": "Which lane fills which 16 bytes" }), note = el("p", { class: "note" }), w = 60, gutter = 54;
  let o, base;
  const place = (i) => f.chunks[i] - base / 16;
  const draw = () => {
    if (!o) return;
    const lines = Math.max(...o.chunks.map((i) => place(i) >> 3)) + 1, g = sized(canvas, gutter + 8 * w, lines * cellHeight + 18);
    g.font = "10.5px ui-monospace, 'DejaVu Sans Mono', monospace"; g.textBaseline = "middle"; g.fillStyle = color("soft");
    for (let c = 0; c < 8; ++c) g.fillText(`b ${c * 4}-${c * 4 + 3}`, gutter + c * w + 2, 8);
    for (let r = 0; r < lines; ++r) g.fillText(hex(base + r * 128), 0, 18 + r * cellHeight + cellHeight / 2);
    for (const i of o.chunks) {
      const x = gutter + (place(i) & 7) * w, y = 18 + (place(i) >> 3) * cellHeight;
      g.fillStyle = hue(f.lanes[i], 32);
      g.fillRect(x, y, w - 1, cellHeight - 1);
      g.fillStyle = color("text");
      g.fillText(`w${f.warps[i]} l${f.lanes[i]}`, x + 4, y + cellHeight / 2);
    }
  };
  canvas.addEventListener("pointermove", (event) => {
    const c = Math.floor((event.offsetX - gutter) / w), r = Math.floor((event.offsetY - 18) / cellHeight), i = c < 0 || c > 7 || r < 0 ? undefined : o.chunks.find((k) => place(k) === r * 8 + c);
    if (i === undefined) return hideTooltip();
    const q = instruction(f.pcs[i]);
    showTooltip(event, el("b", {}, `bytes ${f.chunks[i] * 16 - o.offset} to ${f.chunks[i] * 16 - o.offset + 15} of ${o.name}`), `first ${f.copied[i] ? "copied by cp.async of" : "stored by"} warp ${f.warps[i]}, lane ${f.lanes[i]}\n${placeText(placeOf(q))} ${q?.text.slice(0, 70) ?? ""}`);
  });
  canvas.addEventListener("pointerleave", hideTooltip);
  pointByKeys(canvas, [gutter, 18], () => [w, cellHeight]);
  const open = (chosen) => {
    o = chosen;
    base = o.chunks.length ? f.chunks[o.chunks[0]] * 16 & ~127 : 0;
    const places = new Map(o.chunks.map((i) => [placeText(placeOf(instruction(f.pcs[i]))) || f.pcs[i], f.pcs[i]]));  // an instruction a line
    note.replaceChildren("By ", ...[...places.values()].slice(0, 6).flatMap((pc, k) => { const p = placeOf(instruction(pc)); return [k ? ", " : "", p ? el("button", { class: "link", type: "button", onclick: () => go("source", p) }, placeText(p)) : instruction(pc)?.text ?? ""]; }),
      f.whole ? "." : ". Not all that threads fill is shown.");
    draw();
  };
  onRedraw(draw);
  open(all[0]);
  return card("What threads fill: stores and cp.async", el("div", { class: "row" }, choice, el("span", { class: "label" }, "a colour a lane; w warp, l lane that fills 16 bytes first; lines of 128 bytes, 32 banks (b)")), el("div", { class: "cells" }, canvas), note);
}

// ---- tensor memory -----------------------------------------------------------------------------
const rectangleColors = { allocated: "life", written: "tensor", read: "reading", "stored by threads": "filling", "loaded by threads": "copy" };

// What is done to tensor memory, a picture each: [what, rectangles].
export function tensorPictures() {
  const all = recorded.tensor_memory;
  return Object.keys(rectangleColors).map((what) => [what, all.filter((r) => r.what === what)]).filter(([, rs]) => rs.length);
}

function tensorPicture(what, rectangles) {
  const lanes = more?.chip?.tensor_lanes || 128, columns = more?.chip?.tensor_columns || 512, side = 1.15, edge = 34;
  const canvas = el("canvas", { role: "img", "aria-label": `Tensor memory, lanes and columns that are ${what}: ${rectangles.map((r) => `lanes ${r.lane} to ${r.lane + r.lanes - 1}, columns ${r.column} to ${r.column + r.columns - 1}`).slice(0, 8).join("; ")}` });
  const draw = () => {
    const g = sized(canvas, edge + columns * side + 1, 18 + lanes * side + 1);
    g.font = "10px system-ui, 'DejaVu Sans', sans-serif"; g.textBaseline = "middle"; g.fillStyle = color("soft");
    for (let c = 0; c < columns; c += 64) g.fillText(String(c), edge + c * side, 8);
    for (let l = 0; l < lanes; l += 32) g.fillText(String(l), 4, 18 + l * side + 6);
    g.fillStyle = color("faint"); g.fillRect(edge, 18, columns * side, lanes * side);
    for (const r of rectangles) {
      const x = edge + r.column * side, y = 18 + r.lane * side, w = r.columns * side, h = r.lanes * side;
      g.fillStyle = color(rectangleColors[what]); g.globalAlpha = 0.6; g.fillRect(x, y, w, h);
      g.strokeStyle = color("text"); g.globalAlpha = 0.6; g.lineWidth = 1; g.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1);
    }
    g.globalAlpha = 1; g.fillStyle = color("line");
    for (let c = 64; c < columns; c += 64) g.fillRect(edge + c * side, 18, 0.5, lanes * side);
    for (let l = 32; l < lanes; l += 32) g.fillRect(edge, 18 + l * side, columns * side, 0.5);
  };
  canvas.addEventListener("pointermove", (event) => {
    const c = Math.floor((event.offsetX - edge) / side), l = Math.floor((event.offsetY - 18) / side);
    if (c < 0 || l < 0 || c >= columns || l >= lanes) return hideTooltip();
    const here = rectangles.filter((r) => c >= r.column && c < r.column + r.columns && l >= r.lane && l < r.lane + r.lanes).slice(0, 12);
    showTooltip(event, el("b", {}, `lane ${l}, column ${c}`), here.map((r) => `${what} ${grouped(r.count)} times: ${placeText(placeOf(instruction(r.pc)))} ${instruction(r.pc)?.text.slice(0, 70) ?? ""}`).join("\n") || `not ${what}`);
  });
  canvas.addEventListener("pointerleave", hideTooltip);
  pointByKeys(canvas, [edge, 18], () => [32 * side, 16 * side]);
  draw();
  onRedraw(draw);
  const times = rectangles.reduce((n, r) => n + r.count, 0);
  return el("div", {}, el("h3", {}, `${what}: ${grouped(times)} time${times === 1 ? "" : "s"}`), el("div", { class: "cells" }, canvas));
}

function tensorCard() {
  const pictures = tensorPictures();
  return pictures.length ? card("Tensor memory of the first CTA: lanes (down), columns of 32 bits (across)",
    el("div", { class: "two pictures" }, pictures.map(([what, rectangles]) => tensorPicture(what, rectangles)))) : null;
}

// ---- fragments ---------------------------------------------------------------------------------
// Lane, register and part that hold element (row, column).
export function holder(f, row, column) {
  const i = row * 8 + column % 8;
  return { lane: f.lanes[i], register: f.registers[i] + f.step * Math.floor(column / 8), part: f.parts[i] };
}

function fragmentCard() {
  const all = recorded.fragments;
  if (!all.length) return null;
  const choice = el("select", { "aria-label": "Fragment", onchange: () => open(all[choice.value]) }, all.map((f, i) => el("option", { value: i }, f.name)));
  const canvas = el("canvas", { role: "img", "aria-label": "Which lane holds which element" });
  let f, hot = -1;
  const width = () => Math.max(5, Math.min(26, Math.floor(560 / f.columns))), height = 12, edge = 26;
  const draw = () => {
    if (!f) return;
    const w = width(), g = sized(canvas, edge + f.columns * w, 16 + f.rows * height);
    g.font = "9px ui-monospace, 'DejaVu Sans Mono', monospace"; g.textBaseline = "middle"; g.fillStyle = color("soft");
    for (let c = 0; c < f.columns; c += 8) g.fillText(String(c), edge + c * w, 7);
    for (let r = 0; r < f.rows; r += 8) g.fillText(String(r), 4, 16 + r * height + 6);
    for (let r = 0; r < f.rows; ++r) for (let c = 0; c < f.columns; ++c) {
      const h = holder(f, r, c);
      g.globalAlpha = hot < 0 || h.lane === hot ? 1 : 0.25;
      g.fillStyle = hue(h.lane % 32, 32);
      g.fillRect(edge + c * w, 16 + r * height, w - (w > 6 ? 1 : 0.4), height - 1);
      if (w >= 13) { g.fillStyle = color("text"); g.fillText(String(h.lane), edge + c * w + 2, 16 + r * height + height / 2); }
    }
    g.globalAlpha = 1;
  };
  canvas.addEventListener("pointermove", (event) => {
    const c = Math.floor((event.offsetX - edge) / width()), r = Math.floor((event.offsetY - 16) / height);
    const h = r >= 0 && c >= 0 && r < f.rows && c < f.columns ? holder(f, r, c) : null;
    if ((h?.lane ?? -1) !== hot) { hot = h?.lane ?? -1; draw(); }
    if (!h) return hideTooltip();
    showTooltip(event, el("b", {}, `element (${r}, ${c})`), `warp ${h.lane >> 5}, lane ${h.lane & 31}, register ${h.register}${f.bits < 32 ? `, ${h.part ? "upper" : "lower"} half` : ""}`);
  });
  canvas.addEventListener("pointerleave", () => { hot = -1; hideTooltip(); draw(); });
  pointByKeys(canvas, [edge, 16], () => [width(), height]);
  const open = (chosen) => { f = chosen; draw(); };
  onRedraw(draw);
  open(all[0]);
  return card("Accumulators by lane", el("div", { class: "row" }, choice, el("span", { class: "label" }, "a colour a lane; point at an element to see all that its lane holds")), el("div", { class: "cells" }, canvas));
}

export function showMemory(into) {
  if (!recorded) return false;
  const wide = [tileCard(), tensorCard()].filter(Boolean), beside = [filledCard(), bankCard(), fragmentCard()].filter(Boolean);
  if (!wide.length && !beside.length) return false;
  into.append(...wide, beside.length ? el("div", { class: "two pictures" }, beside) : "");
  const absent = absentMemory();
  if (absent.length) into.append(card("Not shown", el("dl", { class: "details absent" }, absent.map(([part, why]) => [el("dt", {}, part), el("dd", {}, why)]))));
  return true;
}
