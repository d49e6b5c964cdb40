#pragma once
// Findings made by hand, as checkers make them.
#include "report/text/finding_text.h"
#include "sim/launch/phrases/phrase.h"

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
  f.what.emplace<sim::Race>();
  f.object = {.kind = sim::Object::Kind::shared_memory,
              .names = {{.name = "a_smem", .index = 1, .bytes = {{0, 16384}}}},
              .cta = isa::Dim3{3, 0, 0}};
  sim::Site write =
      site_of("kernels/gemm.cpp", 41, "cp.async.bulk.tensor.2d.shared::cluster.global [%r1], ...;");
  write.cta = {3, 0, 0};
  write.lanes = 1;
  write.part = {.does = sim::Does::writes, .asynchronous = true};
  write.role.issues = sim::Role::bulk_loads;
  write.occurrence = 6;
  sim::Site read = site_of("kernels/gemm.cpp", 77, "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {...}, [%r9];");
  read.cta = {3, 0, 0};
  read.warp = sim::WarpOfCta(6);
  read.part = {.does = sim::Does::reads, .earlier = true};
  read.role.warpgroup = 1;
  read.occurrence = 2;
  f.sites = {write, read};
  f.missing = sim::say<sim::Phrase::never_synchronised>();
  f.count = 64;
  return f;
}

inline sim::Finding unaligned_branch() {
  sim::Finding f;
  f.code = "PLD4607";
  f.severity = sim::FindingSeverity::strict;
  f.object = {.kind = sim::Object::Kind::barrier, .number = 2};
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
  sim::Site producer = site_of("ring.cu", 10, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;");
  producer.role.issues = sim::Role::bulk_loads;
  producer.lanes = 0x00ff00ff;
  sim::Site consumer = site_of("ring.cu", 30, "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;");
  consumer.warp = sim::WarpOfCta(4);
  consumer.lanes = 0x0000ffff;
  sim::BlockedWait empty;
  empty.kind = sim::BlockedWait::Kind::mbarrier;
  empty.object = {.kind = sim::Object::Kind::mbarrier, .names = {{.name = "empty", .index = 0, .bytes = {}}}};
  empty.phase = 0;
  empty.parity = 0;
  empty.expected_arrivals = 1;
  empty.pending_arrivals = 1;
  empty.pending_bytes = 0;
  empty.arrivers = {{.warp = sim::WarpOfCta(4), .lanes = 0x0000ffff, .site = 1}};
  sim::BlockedWait full = empty;
  full.object.names = {{.name = "full", .index = 1, .bytes = {}}};
  full.alike = 2;
  full.arrivers = {{.warp = sim::WarpOfCta(0), .lanes = 0x00ff00ff, .site = {}}};
  sim::Deadlock& deadlock = f.what.emplace<sim::Deadlock>();
  deadlock.warps = 2;
  deadlock.cycle = {{{.cta = {}, .warp = sim::WarpOfCta(0), .lanes = 0}, empty.object},
                    {{.cta = {}, .warp = sim::WarpOfCta(4), .lanes = 0}, full.object}};
  f.message = sim::say<sim::Phrase::cycle_of_waits>(deadlock.cycle[0].actor);
  for (const sim::CycleStep& step : deadlock.cycle) f.message.values.emplace_back(step);
  producer.wait = empty;
  consumer.wait = full;
  f.sites = {producer, consumer};
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
