#pragma once
// Findings made by hand, as checkers make them.
#include "report/text/finding_text.h"

namespace palladion::report {

inline sim::Site site_of(std::string file, uint32_t line, std::string instruction) {
  sim::Site site;
  site.lanes = ~0U;
  site.source = {std::move(file), line, 5};
  site.instruction = std::move(instruction);
  return site;
}

// A copy that overwrites what a consumer still reads.
inline sim::Finding overwritten_tile() {
  sim::Finding f;
  f.code = "PLD4307";
  f.message = "an asynchronous write races with an earlier read of the same bytes";
  f.object = "`a_smem`[1] bytes [0, 16384) of CTA (3,0,0)";
  sim::Site write =
      site_of("kernels/gemm.cpp", 41, "cp.async.bulk.tensor.2d.shared::cluster.global [%r1], ...;");
  write.cta = {3, 0, 0};
  write.lanes = 1;
  write.what = "asynchronous write";
  write.role = "producer";
  write.occurrence = 6;
  sim::Site read = site_of("kernels/gemm.cpp", 77, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {...}, [%r9];");
  read.cta = {3, 0, 0};
  read.warp = 6;
  read.what = "read";
  read.role = "warpgroup 1";
  read.occurrence = 2;
  f.sites = {write, read};
  f.missing = "warp 6 arrives at `empty`[1] in phase 0, which no thread waits for before the copy";
  f.rule = "Conflict and Data-races";
  f.help = "wait for `empty`[1] with parity ((k / stages) & 1) ^ 1 before the copy";
  f.count = 64;
  return f;
}

inline sim::Finding unaligned_branch() {
  sim::Finding f;
  f.code = "PLD4607";
  f.severity = sim::FindingSeverity::strict;
  f.message = "bar.sync in a branch that not all warps take";
  f.object = "barrier 2 of CTA (0,0,0)";
  sim::Site site;
  site.lanes = ~0U;
  site.ptx_line = 2;
  site.instruction = "bar.sync 2, 64;";
  f.sites = {site};
  return f;
}

inline sim::Finding two_roles_wait() {
  sim::Finding f;
  f.code = "PLD4901";
  f.fatal = true;
  f.message = "deadlock: two roles wait for each other";
  sim::Site producer = site_of("ring.cu", 10, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;");
  producer.role = "producer";
  producer.lanes = 0x00ff00ff;
  sim::Site consumer = site_of("ring.cu", 30, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;");
  consumer.warp = 4;
  consumer.lanes = 0x0000ffff;
  f.sites = {producer, consumer};
  f.notes = {"`empty`[0], phase 0: 0 of 1 arrivals have come; ring.cu:35 could still arrive",
             "`full`[1], phase 0: 0 of 1 arrivals have come; ring.cu:12 could still arrive",
             "the circle: producer, `empty`[0], consumer, `full`[1]"};
  sim::BlockedWait empty;
  empty.kind = "mbarrier";
  empty.object = "`empty`[0]";
  empty.phase = 0;
  empty.parity = 0;
  empty.expected_arrivals = 1;
  empty.pending_arrivals = 1;
  empty.pending_bytes = 0;
  empty.arrivers = {{.warp = 4, .lanes = 0x0000ffff, .site = 1}};
  sim::BlockedWait full = empty;
  full.object = "`full`[1]";
  full.alike = 2;
  full.arrivers = {{.warp = 0, .lanes = 0x00ff00ff, .site = {}}};
  f.waits = {empty, full};
  return f;
}

// A view that reads no files.
inline FindingView plain_view() {
  FindingView view;
  view.ptx_name = "ring.ptx";
  view.ptx = "  mov.u32 %r1, %tid.x;\n\tbar.sync 2, 64;\n";
  view.source_line = [](const std::string& file, uint32_t line) {
    return file == "kernels/gemm.cpp" && line == 41
               ? "    plgpu::copy_gmem_to_smem(a, a_smem.at(slot), full[slot]);"
               : "";
  };
  return view;
}

}  // namespace palladion::report
