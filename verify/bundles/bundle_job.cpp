#include "verify/bundles/bundle_job.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>

#include "cuda/bundle/read.h"
#include "cuda/cubin/carried_ptx.h"
#include "isa/core/link.h"
#include "isa/host/files.h"
#include "isa/text/parse.h"
#include "sim/machine/state/cluster.h"
#include "sim/program/program.h"
#include "verify/arrays/npy_files.h"
#include "verify/bundles/textures.h"
#include "verify/launch/ptx_launch.h"

namespace palladion::verify {

using namespace host;

namespace {

isa::Dim3 dims_of(const std::array<uint32_t, 3>& d) { return {d[0], d[1], d[2]}; }

std::string text_of(const cuda::bundle::Contents& c) {
  switch (c.kind) {
    case cuda::bundle::Contents::Kind::none:
    case cuda::bundle::Contents::Kind::same:
      return "not recorded: zeros";
    case cuda::bundle::Contents::Kind::file:
      return c.file;
    case cuda::bundle::Contents::Kind::repeated:
      return fmt::format("0x{:x} repeated", c.value);
    case cuda::bundle::Contents::Kind::seed:
      return fmt::format("replaced by seed {}", c.value);
  }
  return "";
}

// What a launch is made of.
struct Target {
  const std::string& folder;
  const std::string& name;
  Recorded& recorded;
  Job& job;
  std::vector<std::string> contents = {};

  const isa::Module& module() const { return *job.module; }
};

// The parameter block, cut into the entry's parameters. The driver's offsets are those of the constant bank,
// in which parameters begin at 0x210 on sm_90 and at 0x380 on sm_100, and are aligned as addresses of the
// bank: a tensor map of 128-byte alignment that comes first is at 112. A block that the program itself laid
// out (`extra` of cuLaunchKernel) counts from 0.
Outcome<void> take_parameters(Target& target, const isa::Function& entry, const std::vector<uint8_t>& block) {
  for (const uint32_t base : {0x210u, 0x380u, 0u}) {
    const isa::ParamLayout layout = isa::param_layout(target.module(), entry, base);
    if (layout.size != block.size()) continue;
    for (size_t i = 0; i < entry.params.size(); ++i) {
      const auto first = block.begin() + layout.offsets[i];
      const auto bytes = static_cast<ptrdiff_t>(target.module().symbols[entry.params[i]].variable.size());
      target.job.params.emplace_back(BytesValue{{first, first + bytes}});
    }
    return {};
  }
  return user_error(fmt::format("{}: entry `{}` takes {} bytes of parameters, {} were recorded", target.name,
                                entry.name, isa::param_layout(target.module(), entry, 0x210).size,
                                block.size()));
}

bool has_variable(const isa::Module& module, const std::string& name) {
  const isa::SymbolId id = module.find_symbol(name);
  return id != isa::no_id && module.symbols[id].kind == isa::Symbol::Kind::variable;
}

// Generic addresses of shared and local memory are those of the machine.
Outcome<void> check_windows(const Target& target, const cuda::bundle::Buffer& b) {
  constexpr uint64_t end = sim::local_window + sim::window_size;
  if (b.address >= end || b.address + b.bytes <= sim::shared_window) return {};
  return unsupported(
      fmt::format("{}: buffer `{}` at 0x{:x}: generic addresses from 0x{:x} to 0x{:x} are those "
                  "of shared and local memory in the machine",
                  target.name, b.name, b.address, sim::shared_window, end));
}

// Addresses of functions in a variable (a table of virtual functions) are numbers of the device's code: the
// machine's take their place, where the module says that a function's address lies.
void place_functions(const isa::Module& module, const std::string& variable, std::vector<std::byte>& before,
                     std::vector<std::byte>& after) {
  for (const isa::Relocation& r : module.symbols[module.find_symbol(variable)].variable.relocations) {
    const isa::Symbol& target = module.symbols[r.symbol];
    if (target.kind != isa::Symbol::Kind::function || r.at + r.size > before.size()) continue;
    const uint64_t address = sim::function_addresses + target.function;
    const bool same =
        after.size() == before.size() && std::memcmp(after.data() + r.at, before.data() + r.at, r.size) == 0;
    std::memcpy(before.data() + r.at, &address, r.size);
    if (same) std::memcpy(after.data() + r.at, &address, r.size);
  }
}

// A buffer of the bundle as one of the job; without an address it lies anywhere.
Outcome<void> add_buffer(Target& target, const cuda::bundle::Buffer& b) {
  auto before = cuda::bundle::read_contents(target.folder, b.before, b.bytes);
  if (!before) return user_error(before.error());
  const bool same = b.after.kind == cuda::bundle::Contents::Kind::same;
  auto after = same ? before : cuda::bundle::read_contents(target.folder, b.after, b.bytes);
  if (!after) return user_error(after.error());
  if (b.variable) place_functions(target.module(), b.name, *before, *after);
  Buffer buffer{.name = b.name,
                .role = Role::inout,
                .type = {pl::u8, {static_cast<int64_t>(b.bytes)}},
                .initial = {},
                .address = b.address,
                .variable = b.variable ? b.name : "",
                .host_writes = b.host_writes};
  buffer.initial.type = buffer.type;
  buffer.initial.bytes = std::move(*before);
  buffer.initial.bytes.resize(b.bytes);
  std::optional<Array> left;
  if (after->size() == b.bytes && (b.bytes != 0 || same)) {
    left.emplace();
    left->type = buffer.type;
    left->bytes = std::move(*after);
  }
  target.contents.push_back(text_of(b.before));
  target.job.buffers.push_back(std::move(buffer));
  target.recorded.after.push_back(std::move(left));
  return {};
}

// The module becomes one with those that the program linked it with.
Outcome<void> link_modules(isa::Module& module, const std::string& folder, const cuda::bundle::Manifest& m) {
  if (m.linked.empty()) return {};
  const auto texts = cuda::bundle::read_linked(folder, m);
  if (!texts) return user_error(texts.error());
  std::vector<isa::Module> others;
  for (size_t i = 0; i < texts->size(); ++i) {
    auto other = isa::parse((*texts)[i], (std::filesystem::path(folder) / m.linked[i].file).string());
    if (!other) return failure_of(other.error(), (*texts)[i]);
    others.push_back(std::move(*other));
  }
  std::vector<const isa::Module*> parts{&module};
  for (const isa::Module& other : others) parts.push_back(&other);
  auto whole = isa::link(parts);
  if (!whole) return failure_of(whole.error());
  module = std::move(*whole);
  return {};
}

// One value of the bytes as the types that they may have.
std::string guesses(std::span<const std::byte> bytes, size_t at) {
  at = at / 4 * 4;
  if (at + 4 > bytes.size()) return {};
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + at, 4);
  Array one(pl::ShapeDtype{pl::f32, {1}}), two(pl::ShapeDtype{pl::f16, {2}}),
      bf(pl::ShapeDtype{pl::bf16, {2}});
  for (Array* a : {&one, &two, &bf}) std::memcpy(a->bytes.data(), &word, 4);
  return fmt::format("u32 0x{:08x}, f32 {:.9g}, f16 {:.5g} {:.5g}, bf16 {:.4g} {:.4g}", word,
                     value_at(one, 0), value_at(two, 0), value_at(two, 1), value_at(bf, 0), value_at(bf, 1));
}

}  // namespace

namespace {

// Of a bundle that has machine code alone, what that carries.
Outcome<std::string> ptx_of_bundle(const std::string& folder, const cuda::bundle::Manifest& m) {
  if (m.ptx_file.empty() && !m.image_file.empty()) {
    const auto image = read_text(std::filesystem::path(folder) / m.image_file, most_of_ptx);
    auto carried = image ? cuda::cubin::ptx_with(*image, m.entry) : tl::unexpected(image.error());
    if (carried && carried->linked.empty()) return std::move(carried->text);
  }
  auto text = cuda::bundle::read_ptx(folder, m);
  if (!text) return user_error(text.error());
  return std::move(*text);
}

}  // namespace

Outcome<BundleProgram> open_bundle(const std::string& folder, const isa::ArchSpec* chip) {
  auto manifest = cuda::bundle::read_manifest(folder);
  if (!manifest) return user_error(manifest.error());
  auto text = ptx_of_bundle(folder, *manifest);
  if (!text) return tl::make_unexpected(text.error());
  BundleProgram out;
  out.name = std::filesystem::path(folder).lexically_normal().filename().string();
  if (out.name.empty()) out.name = folder;
  out.ptx_path = (std::filesystem::path(folder) /
                  (manifest->ptx_file.empty() ? manifest->image_file : manifest->ptx_file))
                     .string();
  out.ptx = std::move(*text);
  auto module = module_of_ptx(out.ptx, out.ptx_path, chip);
  if (!module) return tl::make_unexpected(module.error());
  out.module = std::move(*module);
  if (const auto linked = link_modules(*out.module, folder, *manifest); !linked)
    return tl::make_unexpected(linked.error());
  out.recorded = std::make_shared<Recorded>(Recorded{.manifest = std::move(*manifest), .after = {}});
  return out;
}

namespace {

Outcome<void> take(Target& target) {
  const cuda::bundle::Manifest& m = target.recorded.manifest;
  Job& job = target.job;
  const isa::Function* entry = target.module().find_entry(m.entry);
  if (entry == nullptr) return user_error(fmt::format("{}: the PTX has no entry `{}`", target.name, m.entry));
  if (!cuda::bundle::launchable(m))
    return user_error(
        fmt::format("{}: nothing ran: the driver refused this launch with error {} (grid {}, block {})",
                    target.name, m.result, fmt::join(m.grid, ","), fmt::join(m.block, ",")));
  job.grid = dims_of(m.grid);
  job.block = dims_of(m.block);
  job.cluster = dims_of(m.cluster);
  if (job.cluster.count() == 1) job.cluster = entry->reqnctapercluster.value_or(job.cluster);
  job.dynamic_shared = m.dynamic_shared;
  job.cooperative = m.cooperative;
  job.programmatic_serialization = m.programmatic_serialization;
  job.recorded = m.complete && m.result == 0;
  if (const auto taken = take_parameters(target, *entry, m.parameters); !taken) return taken;
  if (const auto whole = cuda::bundle::check_files(target.folder, m); !whole)
    return user_error(whole.error());
  double bytes = 0;
  for (const cuda::bundle::Buffer& b : m.buffers) bytes += 3 * static_cast<double>(b.bytes);
  for (const cuda::bundle::TexelArray& a : m.arrays)
    bytes += 3 * static_cast<double>(cuda::bundle::bytes_of(a));
  if (const auto fits = check_memory(bytes); !fits) return fits;
  for (const cuda::bundle::Buffer& b : m.buffers) {
    if (const auto right = check_windows(target, b); !right) return right;
    if (b.variable && !has_variable(target.module(), b.name)) continue;  // the kernel does not name it
    if (const auto added = add_buffer(target, b); !added) return added;
  }
  job.objects = objects_of(m, static_cast<int>(job.buffers.size()));
  for (const cuda::bundle::TexelArray& a : m.arrays) {
    const cuda::bundle::Buffer texels{
        .name = a.name, .bytes = cuda::bundle::bytes_of(a), .before = a.before, .after = a.after};
    if (const auto added = add_buffer(target, texels); !added) return added;
  }
  return {};
}

}  // namespace

Outcome<std::vector<std::string>> take_launch(const std::string& folder, const std::string& name,
                                              Recorded& recorded, Job& job) {
  Target target{.folder = folder, .name = name, .recorded = recorded, .job = job};
  if (const auto taken = take(target); !taken) return tl::make_unexpected(taken.error());
  return std::move(target.contents);
}

std::vector<OutputComparison> compare_with_recorded(const Recorded& recorded, const Job& job,
                                                    const std::vector<Array>& outputs) {
  std::vector<OutputComparison> out;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::optional<Array>& wanted = recorded.after[i];
    if (!wanted) continue;
    OutputComparison c{job.buffers[i].name, pl::u8, {}, palladion::compare(outputs[i], *wanted), {}};
    if (c.comparison.first) {
      const auto at = static_cast<size_t>(c.comparison.first->index.front());
      c.note = fmt::format("got    {}\nwanted {}", guesses(outputs[i].bytes, at), guesses(wanted->bytes, at));
    }
    out.push_back(std::move(c));
  }
  return out;
}

}  // namespace palladion::verify
