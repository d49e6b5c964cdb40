// The view "Source": each line with its stalls, bank conflicts and findings; the instructions of a line.
import { clock, findings, grouped, instruction, linesOf, more, percent, place, placeOf, placeOfSite, plain, recorded, within } from "./data.js";
import { bar, card, el, go, legend, onGo, stallColor } from "./dom.js";

const words = /(\/\/.*$|\/\*.*?\*\/)|("(?:[^"\\]|\\.)*")|\b(auto|const|constexpr|if|else|for|while|return|struct|class|template|int|int64_t|uint32_t|float|bool|void|namespace|using|static|inline|true|false|__global__|__shared__|__device__)\b|^(\s*(?:@!?%?\w+\s+)?)((?:wgmma|mbarrier|cp|tcgen05|fence|bar|barrier|ld|st|atom|red|mov|add|mul|mad|fma|sub|shl|shr|and|or|xor|setp|selp|cvt|cvta|bra|ret|exit|elect|setmaxnreg|mma|ldmatrix|stmatrix|shfl|vote)\b(?:\.[\w:]+)*)/g;

// Comments, strings and words of C++ and PTX.
export function highlighted(text) {
  const out = [];
  let at = 0;
  for (const m of text.matchAll(words)) {
    const hit = m[1] ?? m[2] ?? m[3] ?? m[5];
    const start = m.index + m[0].length - hit.length;
    if (start < at) continue;
    out.push(text.slice(at, start), el("span", { class: m[1] ? "c" : m[2] ? "s" : "k" }, hit));
    at = start + hit.length;
  }
  out.push(text.slice(at));
  return out;
}

const keyOf = (p) => p.file + ":" + p.line;

// The sum of two accounts of warps' cycles.
function sum(a, b) {
  const stalls = { ...a?.stalls };
  for (const [reason, cycles] of Object.entries(b.stalls)) stalls[reason] = (stalls[reason] ?? 0) + cycles;
  return { cycles: (a?.cycles ?? 0) + b.cycles, issued: (a?.issued ?? 0) + b.issued, stalls };
}

// By file and line: {time, called (in functions that the line calls), instructions, conflicts, findings}.
function gather() {
  const lines = new Map();
  const at = (p) => {
    if (!p) return {};
    if (!lines.has(keyOf(p))) lines.set(keyOf(p), { place: p, instructions: [], conflicts: 0, passes: 0, findings: [] });
    return lines.get(keyOf(p));
  };
  for (const l of clock?.lines ?? []) {
    at(place(l.file, l.line, l.ptx_line)).time = l;
    for (const c of l.callers ?? []) { const line = at(place(c.file, c.line)); line.called = sum(line.called, c); }
  }
  (recorded?.instructions ?? []).forEach((_, pc) => { const i = instruction(pc); if (i.text) at(placeOf(i)).instructions?.push(pc); });
  for (const a of recorded?.accesses ?? []) {
    const line = at(placeOf(instruction(a.pc)));
    line.conflicts += a.extra;
    line.passes = Math.max(line.passes ?? 0, a.passes - a.fewest);
  }
  findings.forEach((f, index) => f.sites.forEach((site, n) => at(placeOfSite(site)).findings?.push([index, n])));
  return lines;
}

const heatOf = (time, total) => bar(Object.entries(time.stalls).sort((a, b) => b[1] - a[1])
  .map(([reason, cycles]) => [cycles / total, stallColor(reason), `${plain(reason)} ${percent(cycles / time.cycles)}`]));

const timeDetails = (t, where) => t ? [
  el("p", { class: "note" }, `${percent(t.cycles / clock.warp_cycles)} of all warps' cycles${where}, issued ${grouped(t.issued)} times`),
  el("div", { class: "bars" }, Object.entries(t.stalls).sort((a, b) => b[1] - a[1]).map(([reason, cycles]) =>
    [el("span", {}, plain(reason)), bar([[cycles / t.cycles, stallColor(reason), reason]]), el("span", { class: "value" }, percent(cycles / t.cycles))]))] : [];

function lineDetails(entry, file, number) {
  const out = [el("h2", {}, `${within(file)}:${number}`), ...timeDetails(entry?.time, ""), ...timeDetails(entry?.called, " in functions that this line calls")];
  for (const [index] of entry?.findings ?? [])
    out.push(el("p", {}, el("button", { class: "link bad", type: "button", onclick: () => go("findings", index) }, `${findings[index].code}: ${findings[index].message}`)));
  if (entry?.instructions.length) {
    const all = entry.instructions, conflicts = new Map((recorded.accesses ?? []).map((a) => [a.pc, a]));
    out.push(el("h3", {}, `${all.length} PTX instruction${all.length === 1 ? "" : "s"}`), el("div", { class: "scroll" }, all.slice(0, 400).map((pc) => {
      const a = conflicts.get(pc);
      return el("code", { class: "code-line" }, highlighted(instruction(pc).text),
        a?.extra ? el("button", { class: "link warn", type: "button", onclick: () => go("memory", pc) }, `   ${grouped(a.extra)} extra passes`) : null);
    })));
  }
  return out;
}

export function showSource(into) {
  const lines = gather(), weight = new Map();
  for (const e of lines.values()) weight.set(e.place.file, (weight.get(e.place.file) ?? 0) + (e.time?.cycles ?? 0) + e.findings.length * 1e12 + e.instructions.length * 1e-3);
  const files = [...weight.keys()].filter((f) => linesOf(f).length > 1 || linesOf(f)[0]).sort((a, b) => weight.get(b) - weight.get(a));
  if (!files.length) return false;
  const total = clock ? Math.max(1, ...[...lines.values()].map((e) => Math.max(e.time?.cycles ?? 0, e.called?.cycles ?? 0))) : 1;
  const text = el("div", { class: "source", tabindex: 0, role: "list", "aria-label": "Source" }), details = el("div", { class: "card", "aria-live": "polite" });
  const choice = el("select", { "aria-label": "File", onchange: () => open(choice.value) }, files.map((f) => el("option", { value: f }, within(f))));
  const rows = new Map();
  let chosen = 0;
  const choose = (file, number, reveal) => {
    chosen = number;
    text.querySelector(".chosen")?.classList.remove("chosen");
    rows.get(number)?.classList.add("chosen");
    if (reveal) rows.get(number)?.scrollIntoView({ block: reveal === true ? "center" : reveal });
    details.replaceChildren(...lineDetails(lines.get(file + ":" + number), file, number).flat(3));
  };
  const open = (file) => {
    choice.value = file;
    rows.clear();
    const widest = linesOf(file).reduce((n, code) => Math.max(n, code.length), 0);
    text.style.setProperty("--widest", `${widest + 4}ch`);
    const head = el("div", { class: "line head", "aria-hidden": "true" }, ["line", "stalls", "share", "conflicts", "code"].map((t) => el("span", {}, t)));
    text.replaceChildren(head, ...linesOf(file).map((code, i) => {
      const entry = lines.get(`${file}:${i + 1}`), share = entry?.time ? entry.time.cycles / clock.warp_cycles : 0, called = entry?.called ? entry.called.cycles / clock.warp_cycles : 0;
      const row = el("div", { class: "line" + (share > 0.05 ? " hot" : ""), role: "listitem", onclick: () => choose(file, i + 1) },
        el("span", { class: "n" }, String(i + 1)),
        el("span", { class: "heat", title: share ? percent(share) : undefined }, share ? heatOf(entry.time, total) : called ? heatOf(entry.called, total) : ""),
        el("span", { class: "share", title: called > 0.0005 ? `${percent(called)} in functions that this line calls` : undefined }, share > 0.0005 ? percent(share) : called > 0.0005 ? `(${percent(called)})` : ""),
        el("span", { class: "conflict", title: entry?.conflicts ? `${grouped(entry.conflicts)} extra passes for bank conflicts in the recorded CTAs` : undefined }, entry?.conflicts ? `+${grouped(entry.conflicts)}` : ""),
        el("span", {}, highlighted(code)),
        entry?.findings.map(([index, n]) => el("div", { class: "mark" }, el("b", {}, findings[index].code), ` ${findings[index].sites[n].what}: ${findings[index].message}`)));
      rows.set(i + 1, row);
      return row;
    }));
  };
  text.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !rows.has(chosen + step)) return;
    event.preventDefault();
    choose(choice.value, chosen + step, "nearest");
  });
  into.append(el("div", { class: "row" }, choice, el("span", { class: "label" }, "Stalls by reason (longest bar: the costliest line), share of all warps' cycles (in brackets: of functions that the line calls), extra passes for bank conflicts. Choose a line, by ↑ ↓ too, for its instructions.")),
    el("div", { class: "source-and-details" }, text, details));
  const reasons = new Set((clock?.lines ?? []).slice(0, 12).flatMap((l) => Object.keys(l.stalls)));
  if (reasons.size) into.append(legend([...reasons].map((r) => [stallColor(r), plain(r)])));
  if (more?.sources?.not_shown?.length) into.append(el("p", { class: "note" }, `Not in the report: ${more.sources.not_shown.join(", ")}`));
  open(files[0]);
  const costliest = [...lines.values()].filter((e) => e.place.file === files[0]).sort((a, b) => b.findings.length - a.findings.length || (b.time?.cycles ?? 0) - (a.time?.cycles ?? 0))[0];
  if (costliest) {
    choose(files[0], costliest.place.line);
    into.onshow = () => { rows.get(costliest.place.line)?.scrollIntoView({ block: "center" }); into.onshow = null; };
  }
  onGo("source", (p) => { if (!files.includes(p.file)) return; if (choice.value !== p.file) open(p.file); into.onshow = null; choose(p.file, p.line, true); });
  return true;
}
