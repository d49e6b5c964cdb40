#include "python/native/program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "isa/host/paths.h"
#include "verify/launch/ptx_launch.h"

namespace palladion::python {
namespace {

namespace fs = std::filesystem;

json::array dims_json(const isa::Dim3& d) { return {d.x, d.y, d.z}; }

json::object param_json(const isa::Symbol& symbol) {
  const isa::Variable& v = symbol.variable;
  return {{"name", symbol.name},
          {"type", v.dims.empty() ? std::string(isa::name(v.type)) : std::string()},
          {"bytes", v.size()},
          {"pointer", v.pointer}};
}

json::object entry_json(const isa::Module& module, const isa::Function& entry) {
  json::object out = {{"name", entry.name}};
  out.emplace("params", report::array_of(entry.params,
                                         [&](isa::SymbolId id) { return param_json(module.symbols[id]); }));
  if (entry.reqntid) out.emplace("block", dims_json(*entry.reqntid));
  if (entry.reqnctapercluster) out.emplace("cluster", dims_json(*entry.reqnctapercluster));
  return out;
}

Outcome<void> take_ptx(Program& program, const Request& request) {
  program.path = request.text("path", "kernel.ptx");
  program.ptx = request.text("ptx");
  program.name = fs::path(program.path).filename().string();
  program.sources = request.texts("sources");
  auto module = verify::module_of_ptx(program.ptx, program.path, program.arch);
  if (!module) return tl::make_unexpected(module.error());
  program.module = std::move(*module);
  return {};
}

Outcome<void> take_bundle(Program& program, const Request& request) {
  program.bundle = request.text("bundle");
  program.sources = request.texts("sources");
  program.sources.push_back(program.bundle);
  auto opened = verify::open_bundle(program.bundle, program.arch);
  if (!opened) return tl::make_unexpected(opened.error());
  program.name = std::move(opened->name);
  program.path = std::move(opened->ptx_path);
  program.ptx = std::move(opened->ptx);
  program.module = std::move(opened->module);
  program.recorded = std::move(opened->recorded);
  return {};
}

}  // namespace

Outcome<const isa::ArchSpec*> arch_named(const std::string& name) {
  if (name.empty()) return &isa::default_arch();
  if (const isa::ArchSpec* const arch = isa::find_arch(name)) return arch;
  return host::user_error(fmt::format("there is no architecture `{}`", name),
                          "`palladion list` names them: h200, b200, ...");
}

Outcome<std::unique_ptr<Program>> open_program(const Request& request) {
  auto program = std::make_unique<Program>();
  const auto arch = arch_named(request.text("arch"));
  if (!arch) return tl::make_unexpected(arch.error());
  program->arch = *arch;
  const auto taken = request.has("bundle") ? take_bundle(*program, request) : take_ptx(*program, request);
  if (!taken) return tl::make_unexpected(taken.error());
  return program;
}

json::object describe(const Program& program) {
  json::array entries;
  for (const isa::Function& function : program.module->functions)
    if (function.entry && function.defined) entries.push_back(entry_json(*program.module, function));
  return {{"name", program.name}, {"entries", std::move(entries)}};
}

bool shows_source(const Program& program, const std::string& file) {
  return host::lies_below(file, program.sources);
}

}  // namespace palladion::python
