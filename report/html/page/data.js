// What the page shows: the text of --json, the timeline, and what was recorded beside them.
const read = (id) => JSON.parse(document.getElementById(id).textContent);

export const report = read("data-report");
export const trace = read("data-trace");
export const recorded = read("data-recorded");
export const more = read("data-more");

export const clock = report.sim?.clock ?? null;
export const findings = report.sim?.findings ?? report.findings ?? [];
export const unit = trace?.unit === "SM cycles" ? "cycles" : "instructions";

// "45 210": groups of three digits.
export const grouped = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");
export const percent = (share) => (share >= 0.0995 ? (share * 100).toFixed(0) : (share * 100).toFixed(1)) + " %";
export const short = (n) => {
  for (const [size, letter] of [[1e12, " T"], [1e9, " G"], [1e6, " M"], [1e3, " k"]])
    if (n >= size) return (n / size).toPrecision(3) + letter;
  return String(Math.round(n * 100) / 100);
};
export const bytes = (n) => {
  for (const [size, word] of [[2 ** 30, " GiB"], [2 ** 20, " MiB"], [2 ** 10, " KiB"]])
    if (n >= size) return (n / size).toPrecision(3) + word;
  return n + " B";
};
export const plain = (key) => key.replaceAll("_", " ");
// A path below the folder of the run, relative to it.
export const within = (file) => more?.folder && file.startsWith(more.folder + "/") ? file.slice(more.folder.length + 1) : file;

// {text, file, line, ptxLine} of an instruction; nothing for -1.
export function instruction(pc) {
  const i = pc >= 0 ? recorded?.instructions?.[pc] : undefined;
  return i && { text: i[0], file: i[1], line: i[2], ptxLine: i[3] };
}
// The place of an instruction or a site as a file that the page holds and a line in it.
export function place(file, line, ptxLine) {
  if (file && line) return { file, line };
  const ptx = more?.sources?.ptx;
  return ptx && ptxLine ? { file: ptx, line: ptxLine } : null;
}
export const placeOf = (i) => (i ? place(i.file, i.line, i.ptxLine) : null);
export const placeOfSite = (s) => place(s.source?.file, s.source?.line, s.ptx_line);
export const placeText = (p) => (p ? within(p.file) + ":" + p.line : "");

// The line's text, where the page holds the file.
const split = new Map();
export function linesOf(file) {
  if (!split.has(file)) split.set(file, (more?.sources?.files?.[file] ?? "").replace(/\n$/, "").split("\n"));
  return split.get(file);
}
