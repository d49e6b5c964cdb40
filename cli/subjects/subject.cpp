#include "cli/subjects/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cuda/toolkit/ptx_files.h"
#include "isa/host/files.h"
#include "isa/host/paths.h"
#include "isa/text/print.h"
#include "kernels/files/kernel_file.h"
#include "kernels/frame/tuned.h"
#include "verify/arrays/words.h"
#include "verify/launch/runner.h"

namespace palladion::cli {
namespace {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string one_of(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? fmt::format("valid names: {}", fmt::join(known, ", "))
                      : fmt::format("did you mean `{}`? There are {}", near, fmt::join(known, ", "));
}

// There are many: those that may have been meant, and what names all.
std::string near_kernels(std::string_view word, std::span<const kernels::KernelSpec> kernels) {
  constexpr size_t most = 5;
  std::vector<std::string> near = nearest_words(word, names_of(kernels));
  const bool more = near.size() > most;
  if (more) near.resize(most);
  std::string meant = near.empty() ? "" : fmt::format("did you mean `{}`", fmt::join(near, "`, `"));
  if (!near.empty()) meant += more ? ", ...? " : "? ";
  return meant + fmt::format("`{} list` names all kernels", program_name());
}

Outcome<const kernels::KernelSpec*> spec_named(const std::string& word,
                                               std::span<const kernels::KernelSpec> kernels) {
  const auto at = std::ranges::find(kernels, word, &kernels::KernelSpec::name);
  if (at != kernels.end()) return &*at;
  std::error_code failed;
  const bool exists = std::filesystem::exists(word, failed);
  if (!exists && word.find('/') != std::string::npos)
    return user_error(fmt::format("{}: no such file or folder", word));
  if (word.ends_with(".ptx"))
    return user_error(fmt::format("there is no kernel `{}`", word),
                      fmt::format("a file of PTX runs with `--ptx {}`", word));
  if (exists)
    return user_error(fmt::format("{} is neither a file of kernels nor a bundle", word),
                      "a file of kernels ends with .cpp or .so; a bundle is the folder of a captured launch");
  return user_error(fmt::format("there is no kernel `{}`", word), near_kernels(word, kernels));
}

// With the settings of the nearest sizes of a table that the kernel takes for its own; else nothing happens.
void record_tuned(Subject& subject, const SubjectRequest& request) {
  for (const kernels::Tuned& tuned :
       kernels::tuned_settings(*subject.spec, subject.choice, request.settings)) {
    Pairs settings = request.settings;
    settings.insert(tuned.settings.begin(), tuned.settings.end());
    try {
      kernels::Choice choice = kernels::choose(*subject.spec, request.sizes, settings, subject.arch);
      subject.kernel = std::make_unique<plgpu::Kernel>(subject.spec->build(choice));
      subject.choice = std::move(choice);
      subject.settings_from = tuned.from;
      return;
    } catch (const isa::Error&) {  // tiles that do not divide these sizes
    }
  }
}

Outcome<void> record(Subject& subject, const SubjectRequest& request) {
  const auto spec = find_spec(request);
  if (!spec) return tl::make_unexpected(spec.error());
  subject.spec = *spec;
  subject.name = subject.spec->name;
  try {
    subject.choice = kernels::choose(*subject.spec, request.sizes, request.settings, subject.arch);
    const auto start = Clock::now();
    if (request.tunes) record_tuned(subject, request);
    if (subject.kernel == nullptr)
      subject.kernel = std::make_unique<plgpu::Kernel>(subject.spec->build(subject.choice));
    subject.record_seconds = seconds_since(start);
  } catch (const isa::Error& e) {
    return failure_of(e.diagnostics());
  }
  return {};
}

// PTX that is only printed may be for any chip.
const isa::ArchSpec* wanted_chip(const SubjectRequest& request) {
  return request.any_chip ? nullptr : request.arch;
}

Outcome<void> parse_file(Subject& subject, const PtxFile& file, const SubjectRequest& request) {
  auto texts = cuda::toolkit::ptx_of_file(file.path, *request.arch);
  if (!texts) return tl::make_unexpected(texts.error());
  const auto start = Clock::now();
  auto module = texts->size() == 1 ? verify::module_of_ptx(texts->front(), file.path, wanted_chip(request))
                                   : verify::module_of_objects(*texts, file.path, wanted_chip(request));
  if (!module) return tl::make_unexpected(module.error());
  subject.record_seconds = seconds_since(start);
  subject.name = std::filesystem::path(file.path).filename().string();
  subject.module = std::move(*module);
  subject.job.module = subject.module.get();
  subject.ptx_name = file.path;
  subject.job.ptx = texts->size() == 1 ? std::move(texts->front()) : isa::print(*subject.module);
  return {};
}

Outcome<void> open_bundle(Subject& subject, const BundleFolder& bundle, const SubjectRequest& request) {
  const auto start = Clock::now();
  auto opened = verify::open_bundle(bundle.path, wanted_chip(request));
  if (!opened) return tl::make_unexpected(opened.error());
  subject.record_seconds = seconds_since(start);
  subject.name = std::move(opened->name);
  subject.module = std::move(opened->module);
  subject.recorded = std::move(opened->recorded);
  subject.job.module = subject.module.get();
  subject.ptx_name = std::move(opened->ptx_path);
  subject.job.ptx = std::move(opened->ptx);
  subject.job.entry = subject.recorded->manifest.entry;
  return {};
}

Outcome<void> take_bundle(Subject& subject, const BundleFolder& bundle) {
  auto contents = verify::take_launch(bundle.path, subject.name, *subject.recorded, subject.job);
  if (!contents) return tl::make_unexpected(contents.error());
  subject.contents = std::move(*contents);
  return {};
}

Outcome<void> take_arguments(Subject& subject, const PtxFile& file) {
  auto arrays = verify::bind_arguments(subject.job, *subject.module, file);
  if (!arrays) return tl::make_unexpected(arrays.error());
  subject.contents = std::move(arrays->contents);
  subject.out_files = std::move(arrays->out_files);
  return {};
}

// Inputs from files where the user gave some, else as the kernel makes them.
Outcome<void> make_inputs(Subject& subject, const SubjectRequest& request, bool blank) {
  const auto start = Clock::now();
  double bytes = 0;
  for (const pl::ShapeDtype& type : subject.kernel->launch.inputs) bytes += bytes_of(type);
  for (const pl::ShapeDtype& type : subject.kernel->launch.outputs) bytes += bytes_of(type);
  if (const auto fits = check_memory(bytes); !fits && !blank) return fits;
  std::vector<Array> inputs =
      blank ? blank_inputs(*subject.kernel)
            : kernels::inputs_of(*subject.spec, *subject.kernel, subject.choice, request.seed);
  subject.contents.assign(inputs.size(),
                          blank ? "no contents: --values none" : fmt::format("seed {}", request.seed));
  std::vector<std::string> names = kernels::input_names(*subject.spec, subject.choice);
  for (const auto& [name, file] : request.in) {
    const size_t i = size_t(std::ranges::find(names, name) - names.begin());
    if (i >= inputs.size())
      return user_error(fmt::format("--in {}={}: {} has no input `{}`", name, file, subject.name, name),
                        one_of(name, names));
    auto array = read_array(file, inputs[i].type);
    if (!array) return tl::make_unexpected(array.error());
    inputs[i] = std::move(*array);
    subject.contents[i] = file;
  }
  names.resize(std::min(inputs.size(), names.size()));
  names.insert(names.end(), subject.spec->outputs.begin(), subject.spec->outputs.end());
  try {
    subject.job = job_of(*subject.kernel, std::move(inputs), names);
  } catch (const isa::Error& e) {
    return failure_of(e.diagnostics());
  }
  subject.contents.resize(subject.job.buffers.size());
  subject.input_seconds = seconds_since(start);
  return {};
}

Outcome<void> take_output_files(Subject& subject, const Pairs& files) {
  std::vector<std::string> names;
  for (size_t i = 0; i < subject.job.buffers.size(); ++i)
    if (subject.job.is_output(i)) names.push_back(subject.job.buffers[i].name);
  for (const auto& [name, file] : files) {
    if (std::ranges::find(names, name) == names.end())
      return user_error(fmt::format("--out {}={}: {} has no output `{}`", name, file, subject.name, name),
                        one_of(name, names));
    subject.out_files[name] = file;
  }
  return {};
}

}  // namespace

const isa::Module& Subject::program() const {
  return module ? *module : kernel ? kernel->module : *job.module;
}

Outcome<const kernels::KernelSpec*> find_spec(const SubjectRequest& request) {
  return std::visit(
      Overloaded{[&](const NamedKernel& kernel) { return spec_named(kernel.name, request.kernels); },
                 [](const KernelFileWord& word) {
                   return kernels::kernel_of_file(word.file, word.kernel, print_err);
                 },
                 [](const auto&) -> Outcome<const kernels::KernelSpec*> {
                   return user_error("a kernel by name is needed");
                 }},
      request.what);
}

Outcome<Subject> load_program(const SubjectRequest& request) {
  Subject subject;
  subject.arch = request.arch;
  const auto made = std::visit(
      Overloaded{[&](const TwinWord& twin) { return take_twin(subject, twin, request.names_arch); },
                 [&](const BundleFolder& bundle) { return open_bundle(subject, bundle, request); },
                 [&](const PtxFile& file) { return parse_file(subject, file, request); },
                 [&](const auto&) { return record(subject, request); }},
      request.what);
  if (!made) return tl::make_unexpected(made.error());
  subject.sources = request.sources;
  subject.sources.push_back(std::filesystem::path(subject.ptx_name).parent_path().string());
  return subject;
}

bool shows_source(const Subject& subject, const std::string& file) {
  return !subject.is_foreign() || host::lies_below(file, subject.sources);
}

Outcome<Subject> load_subject(const SubjectRequest& request, const ClockSettings* clock) {
  auto subject = load_program(request);
  if (!subject) return subject;
  const bool blank = clock != nullptr && clock->values == sim::Values::none;
  const auto bound =
      std::visit(Overloaded{[](const TwinWord&) { return Outcome<void>{}; },
                            [&](const BundleFolder& bundle) { return take_bundle(*subject, bundle); },
                            [&](const PtxFile& file) { return take_arguments(*subject, file); },
                            [&](const auto&) { return make_inputs(*subject, request, blank); }},
                 request.what);
  if (!bound) return tl::make_unexpected(bound.error());
  if (const auto taken = take_output_files(*subject, request.out); !taken)
    return tl::make_unexpected(taken.error());
  auto registers =
      registers_of(clock != nullptr ? clock->registers : Registers{}, *subject->arch, subject->job);
  if (!registers) return tl::make_unexpected(registers.error());
  subject->registers = *registers;
  return subject;
}

}  // namespace palladion::cli
