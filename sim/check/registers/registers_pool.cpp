// RS-02: setmaxnreg needs a kernel that declares its register count. A pool that cannot grant what its warps
// ask for is a deadlock, and reported as one.
#include "sim/check/registers/registers.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/exec.h"

namespace palladion::sim::check {
namespace {

bool register_count_known(const isa::Function& entry) {
  return entry.maxnreg || entry.maxntid || entry.reqntid;
}

}  // namespace

void RegisterPool::on(const RegistersSet& event) {
  if (register_count_known(*context_.run.program->entry)) return;
  const FindingKey key{Code::invalid_register_count, event.origin.pc, ~0U, 0};
  if (context_.reporter.seen(key, event.origin)) return;
  Finding f;
  f.severity = FindingSeverity::strict;
  f.message = say<Phrase::setmaxnreg_ignored>();
  f.sites.push_back(context_.reporter.site(event.origin, Does::is_ignored));
  f.object.kind = Object::Kind::kernel;
  f.object.names = {{.name = context_.run.program->entry->name}};
  f.missing = say<Phrase::no_register_count>();
  f.help = say<Phrase::add_register_count>();
  context_.reporter.report(key, std::move(f));
}

}  // namespace palladion::sim::check
