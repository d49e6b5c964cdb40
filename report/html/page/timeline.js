// Swim lanes on a canvas: only what is visible is drawn. Used by the timeline and by the pipeline.
import { grouped, instruction, trace, unit } from "./data.js";
import { color, el, hideTooltip, isDark, onRedraw, showTooltip, sized } from "./dom.js";
import { chain, eventCategory, eventColor, eventFacts, eventLabel, eventRow, flatten, model } from "./tracks.js";

const rowHeight = 19, rulerHeight = 26, stripHeight = 8;

const niceStep = (least) => {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= least);
};

// Text that fits, with an ellipsis.
function fitted(text, width, letter = 6.3) {
  if (width < 14) return "";
  const room = Math.floor(width / letter);
  return text.length <= room ? text : room < 3 ? "" : text.slice(0, room - 1) + "…";
}

export class Timeline {
  // options: roots (rows of the model), closed (a set of row ids), height, label; onSelect(event).
  constructor(options) {
    this.roots = options.roots;
    this.closed = options.closed ?? new Set();
    this.from = model.first; this.to = model.shown;
    this.onSelect = options.onSelect ?? (() => {});
    this.selected = -1; this.hovered = -1; this.matches = null; this.pairs = [];
    this.labelWidth = options.labelWidth ?? 250;
    this.canvas = el("canvas", { tabindex: 0, role: "application", "aria-label": options.label });
    this.space = el("div", { class: "space" });
    this.element = el("div", { class: "timeline" }, this.canvas, this.space);
    this.height = options.height;
    this.layout();
    this.listen();
    onRedraw(() => this.draw());
    // On paper nothing scrolls.
    window.addEventListener("beforeprint", () => { this.height = Infinity; this.layout(); this.draw(); });
    window.addEventListener("afterprint", () => { this.height = options.height; this.layout(); this.draw(); });
    if (window.ResizeObserver) new ResizeObserver(() => this.draw()).observe(this.element);
  }

  layout() {
    this.rows = flatten(this.roots, this.closed);
    let y = 0;
    this.index = new Map();
    for (const r of this.rows) { r.y = y; r.height = rowHeight * r.row.lanes; y += r.height; this.index.set(r.row.id, r); }
    this.total = y;
    this.shown = Math.min(this.height, y + rulerHeight + stripHeight + 2);
    this.element.style.height = this.shown + 2 + "px";
    this.space.style.height = Math.max(0, y + rulerHeight + stripHeight - this.shown) + "px";
  }

  get plotWidth() { return Math.max(50, this.width - this.labelWidth); }
  x(time) { return this.labelWidth + (time - this.from) / (this.to - this.from) * this.plotWidth; }
  time(x) { return this.from + (x - this.labelWidth) / this.plotWidth * (this.to - this.from); }

  // ---- drawing
  draw() {
    this.width = this.element.clientWidth || 900;
    const g = this.context = sized(this.canvas, this.width, this.shown);
    this.top = rulerHeight + stripHeight - this.element.scrollTop;
    this.colors = { text: color("text"), soft: color("soft"), line: color("line"), card: color("card"), faint: color("faint"), accent: color("accent"), bad: color("bad") };
    g.fillStyle = this.colors.card;
    g.fillRect(0, 0, this.width, this.shown);
    g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    g.textBaseline = "middle";
    for (const r of this.rows) {
      const y = this.top + r.y;
      if (y + r.height < rulerHeight || y > this.shown) continue;
      this.drawRow(g, r, y);
    }
    this.drawCut(g);
    this.drawEnd(g);
    this.drawArrows(g);
    this.drawLabels(g);
    this.drawRuler(g);
  }

  // Where the recording reached its limit: from there on some rows go on, and others do not.
  drawCut(g) {
    if (!trace.note) return;
    const x = Math.max(this.labelWidth, this.x(trace.cut_at));
    if (x > this.width) return;
    g.globalAlpha = 0.75; g.fillStyle = this.colors.card; g.fillRect(x, rulerHeight, this.width - x, this.shown); g.globalAlpha = 1;
    g.fillStyle = this.colors.bad; g.fillRect(x, rulerHeight, 1.5, this.shown);
    g.fillText("not complete from here on", x + 6, rulerHeight + stripHeight + rowHeight / 2);
  }

  // Where the run ended, if something was still open.
  drawEnd(g) {
    const x = this.x(model.last);
    if (!model.open.size || trace.note || x < this.labelWidth || x > this.width) return;
    g.fillStyle = this.colors.bad; g.fillRect(x, rulerHeight, 1.5, this.shown);
  }

  // Stripes from the end of the run on: what is open there has no end.
  drawOpen(g, y) {
    const from = Math.max(this.x(model.last), this.labelWidth);
    if (from >= this.width) return;
    g.save();
    g.beginPath(); g.rect(from, y + 2, this.width - from, rowHeight - 4); g.clip();
    g.lineWidth = 3; g.strokeStyle = g.fillStyle; g.beginPath();
    for (let x = from - rowHeight; x < this.width; x += 8) { g.moveTo(x, y + rowHeight); g.lineTo(x + rowHeight, y); }
    g.stroke();
    g.restore();
  }

  drawRow(g, r, y) {
    const { row } = r;
    if (row.kind === "group" || row.kind === "sm" || row.kind === "process") {
      g.fillStyle = this.colors.faint;
      g.fillRect(this.labelWidth, y, this.plotWidth, r.height);
    }
    g.fillStyle = this.colors.line;
    g.fillRect(this.labelWidth, y + r.height - 0.5, this.plotWidth, 0.5);
    const slices = row.slices;
    let i = this.firstVisible(row), covered = -Infinity;
    for (; i < slices.length && trace.at[slices[i]] <= this.to; ++i) {
      const e = slices[i], x0 = Math.max(this.x(trace.at[e]), this.labelWidth), x1 = Math.min(this.x(model.end(e)), this.width);
      if (x1 < this.labelWidth) continue;
      if (x1 - x0 < 0.6 && x1 < covered && e !== this.selected) continue;  // hidden behind its neighbour's pixel
      const w = Math.max(0.7, x1 - x0 - (x1 - x0 > 4 ? 0.8 : 0));
      covered = Math.max(covered, x0 + 0.7);
      this.drawSlice(g, e, x0, y + row.depths[i] * rowHeight, w);
    }
    for (const e of row.instants) {
      const x = this.x(trace.at[e]);
      if (x < this.labelWidth || x > this.width) continue;
      if (this.matches && !this.matches.has(e)) g.globalAlpha = 0.2;
      g.fillStyle = e === this.selected ? this.colors.accent : eventColor(e);
      const m = y + rowHeight - 3;
      g.globalAlpha *= 0.75;
      g.beginPath(); g.moveTo(x, m - 3.5); g.lineTo(x + 2.5, m + 1); g.lineTo(x - 2.5, m + 1); g.fill();
      g.globalAlpha = 1;
    }
  }

  drawSlice(g, e, x, y, w) {
    g.globalAlpha = this.matches && !this.matches.has(e) ? 0.18 : 1;
    g.fillStyle = eventColor(e);
    g.fillRect(x, y + 2, w, rowHeight - 4);
    if (model.open.has(e)) this.drawOpen(g, y);
    if (e === this.selected || e === this.hovered) {
      g.strokeStyle = this.colors.text; g.lineWidth = e === this.selected ? 2 : 1;
      g.strokeRect(x + 0.5, y + 1.5, Math.max(1, w - 1), rowHeight - 3);
    }
    const text = fitted(eventLabel(e), w - 6);
    if (text) {
      g.fillStyle = ["free", "life"].includes(eventCategory(e)) ? this.colors.text
        : eventCategory(e) === "phase" || isDark() ? "#fff" : ["filling", "stall"].includes(eventCategory(e)) ? "#221a08" : "#fff";
      g.fillText(text, x + 4, y + rowHeight / 2 + 0.5);
    }
    g.globalAlpha = 1;
  }

  // The first slice that may reach into the window: none is longer than the row's longest.
  firstVisible(row) {
    const from = this.from - (row.longest > this.to - this.from ? Infinity : row.longest);
    if (row.lanes === 1) {  // without overlap, ends ascend as starts do
      let low = 0, high = row.slices.length;
      while (low < high) { const m = (low + high) >> 1; if (model.end(row.slices[m]) < this.from) low = m + 1; else high = m; }
      return low;
    }
    let low = 0, high = row.slices.length;
    while (low < high) { const m = (low + high) >> 1; if (trace.at[row.slices[m]] < from) low = m + 1; else high = m; }
    return low;
  }

  // Where an event is drawn; its nearest visible ancestor's row when its own is closed.
  anchor(e, atEnd) {
    let row = eventRow(e);
    while (row && !this.index.has(row.id)) row = model.rows[row.parent];
    if (!row) return null;
    const r = this.index.get(row.id);
    return [this.x(atEnd ? model.end(e) : trace.at[e]), this.top + r.y + rowHeight / 2];
  }

  drawArrows(g) {
    g.save();
    g.beginPath(); g.rect(this.labelWidth, rulerHeight, this.plotWidth, this.shown); g.clip();
    for (const [a, b] of this.pairs) {
      const direct = a === this.selected || b === this.selected;
      const target = eventCategory(b);
      const from = this.anchor(a, trace.length[a] >= 0), to = this.anchor(b, trace.length[b] >= 0 && target !== "stall" && model.end(a) > trace.at[b]);
      if (!from || !to) continue;
      g.strokeStyle = g.fillStyle = this.colors.bad; g.globalAlpha = direct ? 1 : 0.4; g.lineWidth = direct ? 1.8 : 1.1;
      const bend = Math.min(60, 12 + Math.abs(to[0] - from[0]) / 2);
      g.beginPath(); g.moveTo(from[0], from[1]);
      g.bezierCurveTo(from[0] + bend, from[1], to[0] - bend, to[1], to[0] - 4, to[1]); g.stroke();
      g.beginPath(); g.moveTo(to[0], to[1]); g.lineTo(to[0] - 6, to[1] - 3.5); g.lineTo(to[0] - 6, to[1] + 3.5); g.fill();
    }
    g.restore();
  }

  drawLabels(g) {
    g.fillStyle = this.colors.card;
    g.fillRect(0, 0, this.labelWidth - 1, this.shown);
    for (const r of this.rows) {
      const y = this.top + r.y;
      if (y + r.height < rulerHeight || y > this.shown) continue;
      const x = 8 + r.depth * 13, group = r.row.children.length > 0;
      if (group) {
        g.fillStyle = this.colors.soft;
        g.fillText(this.closed.has(r.row.id) ? "▸" : "▾", x, y + rowHeight / 2);
      }
      g.fillStyle = group ? this.colors.text : this.colors.soft;
      g.font = (group ? "600 " : "") + "11px system-ui, 'DejaVu Sans', sans-serif";
      g.fillText(fitted(r.row.name.replaceAll("`", ""), this.labelWidth - x - 14, group ? 7.2 : 6.3), x + 12, y + rowHeight / 2);
    }
    g.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    g.fillStyle = this.colors.line;
    g.fillRect(this.labelWidth - 1, 0, 1, this.shown);
  }

  drawRuler(g) {
    g.fillStyle = this.colors.card;
    g.fillRect(0, 0, this.width, rulerHeight + stripHeight);
    const step = niceStep((this.to - this.from) / this.plotWidth * 90);
    g.fillStyle = this.colors.soft;
    g.fillText(unit === "cycles" ? "cycles" : "warp instructions", 8, rulerHeight / 2 - 2);
    for (let t = Math.ceil(this.from / step) * step; t <= this.to; t += step) {
      const x = this.x(t);
      g.fillStyle = this.colors.line; g.fillRect(x, rulerHeight - 8, 1, 6);
      g.fillStyle = this.colors.soft; g.fillText(grouped(t), x + 3, rulerHeight / 2 - 2);
    }
    const whole = model.shown - model.first || 1, px = (t) => this.labelWidth + (t - model.first) / whole * this.plotWidth;
    g.fillStyle = this.colors.faint; g.fillRect(this.labelWidth, rulerHeight, this.plotWidth, stripHeight - 3);
    g.fillStyle = this.colors.accent;
    g.fillRect(px(this.from), rulerHeight, Math.max(3, px(this.to) - px(this.from)), stripHeight - 3);
    if (this.range) {
      const [a, b] = this.range.map((t) => this.x(t)).sort((p, q) => p - q);
      g.globalAlpha = 0.2; g.fillStyle = this.colors.accent; g.fillRect(a, rulerHeight, b - a, this.shown); g.globalAlpha = 1;
    }
  }

  // ---- moving
  show(from, to) {
    const least = 8, whole = model.shown - model.first;
    const span = Math.min(whole * 1.02, Math.max(least, to - from));
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, model.first - whole * 0.01), model.shown + whole * 0.01 - span);
    this.to = this.from + span;
    this.draw();
  }
  zoom(factor, x = this.labelWidth + this.plotWidth / 2) {
    const t = this.time(x);
    this.show(t - (t - this.from) * factor, t + (this.to - t) * factor);
  }
  pan(share) { const d = (this.to - this.from) * share; this.show(this.from + d, this.to + d); }
  reset() { this.show(model.first, model.shown); }

  select(e, reveal) {
    this.selected = e;
    this.pairs = e < 0 ? [] : chain(e);
    if (reveal && e >= 0) this.reveal(e);
    this.draw();
    this.onSelect(e);
  }
  reveal(e) {
    for (let row = model.rows[eventRow(e).parent]; row; row = model.rows[row.parent]) this.closed.delete(row.id);
    this.layout();
    const r = this.index.get(eventRow(e).id);
    if (r && (r.y < this.element.scrollTop || r.y > this.element.scrollTop + this.shown - 60)) this.element.scrollTop = r.y - this.shown / 2;
    const from = trace.at[e], to = model.end(e), span = this.to - this.from;
    if (from < this.from || to > this.to) this.show((from + to) / 2 - Math.max(span, (to - from) * 1.5) / 2, (from + to) / 2 + Math.max(span, (to - from) * 1.5) / 2);
  }
  // The next event of the selected one's row.
  step(direction) {
    if (this.selected < 0) return this.select(this.rows.flatMap((r) => r.row.slices).find((e) => model.end(e) >= this.from) ?? -1, true);
    const row = eventRow(this.selected), all = trace.length[this.selected] < 0 ? row.instants : row.slices;
    const next = all[all.indexOf(this.selected) + direction];
    if (next !== undefined) this.select(next, true);
  }

  // The slice of the next row that has one, at the same time.
  stepRow(direction) {
    if (this.selected < 0) return this.step(1);
    const middle = (e) => trace.at[e] + trace.length[e] / 2, t = middle(this.selected), id = eventRow(this.selected).id;
    for (let i = this.rows.findIndex((r) => r.row.id === id) + direction; i >= 0 && i < this.rows.length; i += direction) {
      const { slices } = this.rows[i].row;
      if (slices.length) return this.select(slices.reduce((best, e) => (Math.abs(middle(e) - t) < Math.abs(middle(best) - t) ? e : best)), true);
    }
  }

  // Events whose name, line or instruction has the text; nothing for an empty one.
  find(text) {
    const word = text.trim().toLowerCase();
    this.matches = null;
    if (word) {
      const hit = trace.texts.map((t) => t.toLowerCase().includes(word)), byPc = new Map();
      const inInstruction = (pc) => {
        if (!byPc.has(pc)) byPc.set(pc, (instruction(pc)?.text ?? "").toLowerCase().includes(word));
        return byPc.get(pc);
      };
      this.matches = new Set();
      for (const { row } of flatten(this.roots, new Set()))
        for (const list of [row.slices, row.instants])
          for (const e of list)
            if (hit[trace.name[e]] || (trace.line[e] >= 0 && hit[trace.line[e]]) || inInstruction(trace.pc[e])) this.matches.add(e);
    }
    this.draw();
    return this.matches ? [...this.matches].sort((a, b) => trace.at[a] - trace.at[b]) : [];
  }

  // The event under the pointer, -1: none.
  hit(x, y) {
    if (x < this.labelWidth || y < rulerHeight + stripHeight) return -1;
    const r = this.rows.find((q) => y >= this.top + q.y && y < this.top + q.y + q.height);
    if (!r) return -1;
    const t = this.time(x), near = (this.to - this.from) / this.plotWidth * 4;
    for (const e of r.row.instants) if (Math.abs(trace.at[e] - t) < near && y - this.top - r.y > rowHeight / 2) return e;
    const depth = Math.floor((y - this.top - r.y) / rowHeight);
    let best = -1;
    for (let i = this.firstVisible(r.row); i < r.row.slices.length && trace.at[r.row.slices[i]] <= t + near / 4; ++i) {
      const e = r.row.slices[i];
      if (model.end(e) >= t - near / 4 && r.row.depths[i] === depth) best = e;
    }
    if (best >= 0) return best;
    for (const e of r.row.instants) if (Math.abs(trace.at[e] - t) < near) return e;
    return -1;
  }

  listen() {
    const at = (event) => { const box = this.canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
    this.element.addEventListener("scroll", () => this.draw());
    this.canvas.addEventListener("wheel", (event) => {
      const [x] = at(event);
      if (x < this.labelWidth || event.shiftKey) return;  // the rows scroll
      event.preventDefault();
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.pan(event.deltaX / this.plotWidth);
      else this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, x);
    }, { passive: false });
    let drag = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      const [x, y] = at(event);
      drag = { x, y, from: this.from, to: this.to, scroll: this.element.scrollTop, moved: false, range: event.shiftKey };
      this.canvas.setPointerCapture(event.pointerId);
    });
    this.canvas.addEventListener("pointermove", (event) => {
      const [x, y] = at(event);
      if (drag) {
        drag.moved ||= Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4;
        if (!drag.moved) return;
        hideTooltip();
        if (drag.range) { this.range = [this.time(drag.x), this.time(x)]; this.draw(); return; }
        const d = (x - drag.x) / this.plotWidth * (drag.to - drag.from);
        this.element.scrollTop = drag.scroll - (y - drag.y);
        this.show(drag.from - d, drag.to - d);
        return;
      }
      const e = this.hit(x, y);
      if (e !== this.hovered) { this.hovered = e; this.draw(); }
      if (e < 0) hideTooltip();
      else showTooltip(event, el("b", {}, eventLabel(e)), eventFacts(e).map(([k, v]) => `${k}: ${v}`).join("\n"));
    });
    this.canvas.addEventListener("pointerup", (event) => {
      const [x, y] = at(event), was = drag;
      drag = null;
      if (!was) return;
      if (was.range && this.range) { const [a, b] = this.range; this.range = null; this.show(Math.min(a, b), Math.max(a, b)); return; }
      if (was.moved) return;
      if (x < this.labelWidth) this.toggle(y);
      else this.select(this.hit(x, y));
    });
    this.canvas.addEventListener("pointerleave", () => { this.hovered = -1; hideTooltip(); this.draw(); });
    this.canvas.addEventListener("dblclick", () => this.focusSelected());
    this.canvas.addEventListener("keydown", (event) => this.key(event));
  }
  toggle(y) {
    const r = this.rows.find((q) => y >= this.top + q.y && y < this.top + q.y + q.height);
    if (!r || !r.row.children.length) return;
    if (!this.closed.delete(r.row.id)) this.closed.add(r.row.id);
    this.layout();
    this.draw();
  }
  focusSelected() {
    if (this.selected < 0) return;
    const from = trace.at[this.selected], to = model.end(this.selected), margin = Math.max(20, (to - from) * 0.6);
    this.show(from - margin, to + margin);
  }
  scroll(rows) { this.element.scrollTop += rows * rowHeight; }
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      w: () => this.zoom(1 / 1.4), "+": () => this.zoom(1 / 1.4), "=": () => this.zoom(1 / 1.4),
      s: () => this.zoom(1.4), "-": () => this.zoom(1.4), a: () => this.pan(-0.2), d: () => this.pan(0.2),
      ArrowLeft: () => this.pan(-0.1), ArrowRight: () => this.pan(0.1),
      ArrowUp: () => (event.shiftKey ? this.stepRow(-1) : this.scroll(-2)), ArrowDown: () => (event.shiftKey ? this.stepRow(1) : this.scroll(2)),
      0: () => this.reset(), f: () => this.focusSelected(), "[": () => this.step(-1), "]": () => this.step(1), Escape: () => this.select(-1),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
}
