#include "frontend/core/program_ids.h"

namespace palladion::frontend {

namespace {
thread_local const ProgramIds* current = nullptr;
}  // namespace

const ProgramIds* program_ids() { return current; }

WithProgramIds::WithProgramIds(ProgramIds ids) : ids_(std::move(ids)), saved_(current) { current = &ids_; }
WithProgramIds::~WithProgramIds() { current = saved_; }

}  // namespace palladion::frontend
