// The view "Findings": each with its sites, the missing edge between them, and a deadlock's graph.
import { findings, linesOf, placeOfSite, placeText, plain } from "./data.js";
import { el, go, onGo } from "./dom.js";
import { drawGraph, isWaitGraph } from "./graph.js";
import { highlighted } from "./source.js";

function siteBox(site) {
  const place = placeOfSite(site), lanes = site.lanes === "ffffffff" ? "" : /^0*1$/.test(site.lanes) ? " lane 0" : ` lanes ${site.lanes}`;
  const code = place ? (linesOf(place.file)[place.line - 1] ?? "").trim() : "";
  return el("div", { class: "site" },
    el("b", {}, site.what || "here"),
    el("div", { class: "label" }, /^0+$/.test(site.lanes) ? "" : `CTA (${site.cta}) warp ${site.warp}${lanes}${site.role ? `, ${site.role}` : ""}${site.occurrence ? `, execution ${site.occurrence}` : ""}`),
    place ? el("button", { class: "link", type: "button", onclick: () => go("source", place) }, placeText(place)) : null,
    code && !code.startsWith(site.instruction) ? el("code", { class: "code-line" }, highlighted(code)) : null,
    el("code", { class: "code-line" }, highlighted(site.instruction)));
}

// Pairs of sites with what is missing between them; further sites below.
function sitesOf(f) {
  const [first, second, ...rest] = f.sites;
  if (!first) return null;
  if (!second) return el("div", { class: "sites" }, siteBox(first), el("div", { class: "missing" }, f.missing ? [el("div", { class: "edge" }), `missing: ${f.missing}`] : null));
  return [el("div", { class: "sites" }, siteBox(second),
    el("div", { class: "missing" }, f.missing ? [el("span", {}, "missing"), el("div", { class: "edge", role: "img", "aria-label": "missing edge" }), el("span", {}, f.missing)] : null),
    siteBox(first)), rest.map(siteBox)];
}

function findingCard(f, index) {
  const graph = isWaitGraph(f);
  const seen = f.schedules.length ? `seen ${f.count === 1 ? "once" : `${f.count} times`}, under ${f.schedules.length > 4 ? `${f.schedules.length} schedules` : f.schedules.join(", ")}` : "";
  const facts = [["object", f.object.replaceAll("`", "")], ["help", f.help], ["rule", f.rule && `PTX, "${f.rule}"`], ["replay", f.replay && el("code", {}, f.replay)], ["suppressed", f.reason]].filter(([, v]) => v);
  const missing = graph && f.missing ? [["missing", el("span", { class: "bad" }, f.missing.replaceAll("`", ""))]] : [];
  const element = el("div", { class: `card finding ${f.severity}${f.suppressed ? " suppressed" : ""}`, id: `finding-${index}` },
    el("h2", {}, el("span", { class: f.severity === "error" ? "bad" : "warn" }, `${f.severity}[${f.code}]`), ` ${f.message.replaceAll("`", "")}`),
    graph ? drawGraph(f) : null,
    graph ? el("details", {}, el("summary", {}, `${f.sites.length} sites`), f.sites.map(siteBox)) : sitesOf(f),
    el("dl", { class: "details" }, [...missing, ...facts].map(([k, v]) => [el("dt", {}, plain(k)), el("dd", {}, v)])),
    f.notes.length ? el("ul", {}, f.notes.map((n) => el("li", { class: "note" }, n.replaceAll("`", "")))) : null,
    el("p", { class: "note" }, seen));
  return element;
}

export function showFindings(into) {
  if (!findings.length) return false;
  const cards = findings.map(findingCard);
  into.append(...cards);
  onGo("findings", (index) => cards[index ?? 0]?.scrollIntoView({ block: "start" }));
  return true;
}
