// Why a view, or a part of the memory view, is not in this report: a sentence for each.
import { clock, findings, more, recorded, report, trace } from "./data.js";
import { card, el } from "./dom.js";

const swept = report.command === "sweep";
const nothingRecorded = () => swept ? "`sweep` times many configurations and records none: `run --report` of one of them shows it."
  : !trace && !recorded ? "The kernel did not run in the machine." : null;

// {view: [title, sentence]} for the views that are not in `shown`.
export function absentViews(shown) {
  const compared = [...(report.reference ?? []), ...(report.device_against_sim ?? [])];
  const reasons = {
    findings: ["Findings", report.sim?.coverage || report.schedules ? "The checks found nothing." : swept ? "`sweep` does not check: `check` does." : "No checks were requested: --check all."],
    time: ["Where the time went", report.command === "check" ? "`check` runs without a clock: `run --schedule hardware` has one." : swept ? nothingRecorded() : /hardware/.test(report.sim?.schedule ?? report.schedule ?? "") ? "The run did not reach its end: there are no times of the whole kernel." : "The run had no clock: --schedule hardware shows cycles, stalls and the roofline."],
    timeline: ["Timeline", nothingRecorded() ?? "The recorded CTAs and times had no events: --trace-ctas, --trace-cycles choose others."],
    pipeline: ["Pipeline", nothingRecorded() ?? "The recorded CTAs use no mbarrier and copy nothing into shared memory."],
    source: ["Source", swept ? nothingRecorded() : "No file that the program names could be read."],
    memory: ["Memory", nothingRecorded() ?? `The recorded CTAs access no shared memory${report.arch?.startsWith("b") ? " and no tensor memory" : ""}, and the program has no matrix instruction.`],
    errors: ["Differences", swept ? "`sweep` does not compare outputs: `compare` does." : compared.length ? "All outputs that were compared are equal bit by bit." : "The outputs were compared with nothing: `compare` takes a reference, or a capture from a device."],
  };
  return Object.fromEntries(Object.entries(reasons).filter(([view]) => !shown.has(view)));
}

export function showAbsent(into, shown) {
  const rows = Object.values(absentViews(shown));
  if (rows.length) into.append(card("Not in this report", el("dl", { class: "details absent" }, rows.map(([title, why]) => [el("dt", {}, title), el("dd", {}, why)]))));
}

// [part, sentence] of the memory view's parts that have nothing to show.
export function absentMemory() {
  const tensor = more?.chip?.tensor_columns > 0;
  return [
    [recorded.tiles.length, "Tiles", recorded.tiles_not_shown ? "The tiles that are copied are im2col, interleaved or of packed elements, whose layout is not drawn."
      : "The recorded CTAs copy no tiles by cp.async.bulk.tensor: other accesses name bytes, not rows of a tile."],
    [recorded.tensor_memory.length, "Tensor memory", tensor ? "The recorded CTAs do not use it." : `${more?.chip?.name ?? "This chip"} has none.`],
    [recorded.filled.chunks.length, "What threads fill", "The recorded threads store nothing into shared memory, and copy nothing there by cp.async."],
    [recorded.accesses.length, "Lanes and banks", "The recorded threads do not access shared memory."],
    [recorded.fragments.length, "Accumulators by lane", recorded.tensor_memory.length ? "Accumulators of tcgen05 lie in tensor memory: its lane is the row, its column of 32 bits the column."
      : "The program has no wgmma and no mma."],
  ].filter(([n]) => !n).map(([, part, why]) => [part, why]);
}
