// The view "Timeline": swim lanes of everything that was recorded, search, what was selected.
import { clock, grouped, more, placeText, trace, unit } from "./data.js";
import { el, go, legend, onGo, stallColor } from "./dom.js";
import { Timeline } from "./timeline.js";
import { eventCategory, eventFacts, eventLabel, eventName, eventPlace, eventRow, model, rowPath } from "./tracks.js";

export function shownText() {
  const s = more?.shown;
  if (!s) return "";
  const what = `${s.ctas}${s.window ? `, ${unit} ${grouped(s.window[0])} to ${grouped(s.window[1])}` : ""}: ${grouped(s.events)} events. `;
  const whole = clock && unit === "cycles" ? ` The kernel's ${grouped(clock.cycles)} cycles contain its launch and its end too, which no row shows.` : "";
  return "Shown: " + what + (trace.note ? `Not all: ${trace.note}. ` : "") + "Others: --trace-ctas, --trace-cycles." + whole;
}

// The colours of the stalls that were recorded, the longest first.
export function stallLegend() {
  const times = new Map();
  for (let e = 0; e < trace.at.length; ++e) {
    if (eventCategory(e) !== "stall") continue;
    const reason = model.more.get(e)?.reason ?? eventName(e);
    times.set(reason, (times.get(reason) ?? 0) + trace.length[e]);
  }
  return [...times].sort((a, b) => b[1] - a[1]).map(([reason]) => [stallColor(reason), reason]);
}

// What is known of the selected event, with its neighbours along arrows.
export function describe(e, timeline) {
  if (e < 0) return [el("p", { class: "note" }, "Select a slice: its instruction, and arrows to what it waited for and what waited for it.")];
  const place = eventPlace(e);
  const link = (other) => el("li", {}, el("button", { class: "link", type: "button", onclick: () => timeline.select(other, true) },
    eventLabel(other)), ` ${rowPath(eventRow(other))}, ${grouped(trace.at[other])}`);
  const list = (title, events) => (events?.length ? [el("h3", {}, title), el("ul", {}, [...new Set(events)].slice(0, 12).map(link))] : []);
  return [
    el("h2", {}, eventLabel(e)),
    el("dl", { class: "details" }, eventFacts(e).map(([k, v]) => [el("dt", {}, k),
      el("dd", { class: k === "instruction" ? "mono" : undefined },
        k === "line" && place ? el("button", { class: "link", type: "button", onclick: () => go("source", place) }, placeText(place)) : v)])),
    list("caused by", model.into.get(e)), list("leads to", model.out.get(e)),
  ];
}

export function showLanes(into) {
  if (!model || !trace.at.length) return false;
  const details = el("div", { class: "card", "aria-live": "polite" });
  const timeline = new Timeline({
    roots: model.roots, height: Math.max(360, innerHeight - 300),
    label: "Timeline. Wheel, W and S zoom; drag, A and D move; 0 shows all; brackets select slices of a row, shift and up or down those of other rows; F shows the selection; shift and drag choose a range.",
    onSelect: (e) => details.replaceChildren(...describe(e, timeline).flat(2)),
  });
  let found = [], at = -1;
  const count = el("span", { class: "label", "aria-live": "polite" });
  const search = el("input", { type: "search", placeholder: "Search: mbarrier, wgmma, file:line …", "aria-label": "Search the timeline" });
  const next = (direction) => {
    if (!found.length) return;
    at = (at + direction + found.length) % found.length;
    timeline.select(found[at], true);
    count.textContent = `${at + 1} of ${found.length}`;
  };
  search.addEventListener("input", () => { found = timeline.find(search.value); at = -1; count.textContent = search.value ? `${grouped(found.length)} found` : ""; });
  search.addEventListener("keydown", (event) => { if (event.key === "Enter") next(event.shiftKey ? -1 : 1); });
  const button = (text, title, act) => el("button", { type: "button", title, "aria-label": title, onclick: act }, text);
  into.append(
    el("div", { class: "row no-print" }, search, button("‹", "Previous match", () => next(-1)), button("›", "Next match", () => next(1)), count,
      button("−", "Zoom out", () => timeline.zoom(1.6)), button("+", "Zoom in", () => timeline.zoom(1 / 1.6)), button("All", "Show all", () => timeline.reset()),
      el("span", { class: "label" }, "wheel or W S zoom, drag or A D move, shift-drag a range, [ ] and shift-↑ ↓ select, F shows the selection")),
    timeline.element,
    el("div", { class: "row" }, el("span", { class: "label" }, "A warp stalls:"), legend(stallLegend())),
    legend([["issue", "executes"], ["copy", "copy"], ["tensor", "tensor core"], ["phase", "mbarrier phase"],
      ["filling", "filling"], ["full", "full"], ["reading", "being read"], ["free", "free"]].map(([c, t]) => [`var(--${c})`, t])),
    el("p", { class: "note" }, shownText()), details);
  details.append(...describe(-1));
  onGo("timeline", (word) => { search.value = word; search.dispatchEvent(new Event("input")); next(1); });
  timeline.draw();
  into.timeline = timeline;
  into.search = search;
  return true;
}
