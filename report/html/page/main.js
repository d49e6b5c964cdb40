// Makes the views that have something to show, and moves between them.
import { showAbsent } from "./absent.js";
import { findings, report } from "./data.js";
import { el, onGo, redrawAll } from "./dom.js";
import { showErrors } from "./errormap.js";
import { showFindings } from "./findings.js";
import { showLanes } from "./lanes.js";
import { showMemory } from "./memory.js";
import { showPipeline } from "./pipeline.js";
import { showTime } from "./roofline.js";
import { runSelftest } from "./selftest.js";
import { showSource } from "./source.js";
import { showSummary, verdict } from "./summary.js";
import { showSweep } from "./sweep.js";

const views = [
  ["summary", "Summary", showSummary], ["findings", "Findings", showFindings], ["sweep", "Sweep", showSweep], ["time", "Where the time went", showTime],
  ["timeline", "Timeline", showLanes], ["pipeline", "Pipeline", showPipeline], ["source", "Source", showSource], ["memory", "Memory", showMemory],
  ["errors", "Differences", showErrors],
];
const sections = new Map(), tabs = new Map(), made = new Map();

function showView(name) {
  for (const [other, section] of sections) {
    section.hidden = other !== name;
    tabs.get(other).setAttribute("aria-selected", String(other === name));
    tabs.get(other).tabIndex = other === name ? 0 : -1;
  }
  redrawAll();
  sections.get(name)?.onshow?.();
  if (location.hash !== "#selftest") history.replaceState(null, "", "#" + name);
}

function makeTheme() {
  const set = (theme) => { document.documentElement.dataset.theme = theme; redrawAll(); };
  const wanted = new URLSearchParams(location.search).get("theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  set(wanted);
  document.getElementById("theme").addEventListener("click", () => set(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
}

function makeHead() {
  const sizes = Object.entries(report.sizes ?? {}).map(([k, v]) => `${k}=${v}`).join(" ");
  document.getElementById("title").textContent = `${report.kernel}, ${report.command}`;
  document.getElementById("subtitle").textContent = [report.arch, report.sim?.schedule ?? report.schedule, sizes, `palladion ${report.palladion}`].filter(Boolean).join(" · ");
  document.title = `${report.kernel}: ${verdict()[0]}`;
  document.getElementById("json").href = URL.createObjectURL(new Blob([JSON.stringify(report, null, 2)], { type: "application/json" }));
}

function makeViews() {
  const nav = document.getElementById("tabs"), main = document.getElementById("views");
  for (const [name, title, show] of views) {
    const section = el("section", { id: `view-${name}`, role: "tabpanel", "aria-label": title });
    main.append(section);
    let shown = false;
    try {
      shown = show(section);
    } catch (error) {
      console.error(`${name}: ${error.stack}`);
      section.append(el("p", { class: "bad" }, `This view could not be drawn: ${error.message}`));
      shown = true;
    }
    if (!shown) { section.remove(); continue; }
    const tab = el("button", { type: "button", role: "tab", "aria-controls": `view-${name}`, onclick: () => showView(name) }, title,
      name === "findings" ? el("span", { class: "count" }, String(findings.length)) : null);
    sections.set(name, section);
    tabs.set(name, tab);
    nav.append(tab);
  }
  nav.addEventListener("keydown", (event) => {
    const names = [...tabs.keys()], at = names.findIndex((n) => tabs.get(n) === document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (at < 0 || !step) return;
    const name = names[(at + step + names.length) % names.length];
    showView(name);
    tabs.get(name).focus();
  });
}

makeTheme();
makeHead();
makeViews();
showAbsent(sections.get("summary"), sections);
onGo("view", showView);
const asked = location.hash.slice(1);
showView(sections.has(asked) ? asked : sections.keys().next().value);
window.addEventListener("resize", redrawAll);
let before;
window.addEventListener("beforeprint", () => {
  before = { theme: document.documentElement.dataset.theme, hidden: [...sections.values()].filter((s) => s.hidden) };
  document.documentElement.dataset.theme = "light";
  for (const s of before.hidden) s.hidden = false;
  redrawAll();
});
window.addEventListener("afterprint", () => {
  document.documentElement.dataset.theme = before.theme;
  for (const s of before.hidden) s.hidden = true;
  redrawAll();
});
if (asked === "selftest") runSelftest(sections, showView);
