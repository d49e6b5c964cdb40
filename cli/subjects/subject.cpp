#include "cli/subjects/subject.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/kernel_files/kernel_file.h"
#include "cli/subjects/npy_files.h"
#include "cli/support/program_name.h"
#include "cuda/bundle/read.h"
#include "isa/arch/arch.h"
#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "verify/arrays/words.h"
#include "verify/launch/runner.h"

namespace palladion::cli {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The names of .npy files' types (verify/arrays/npy.h) differ in two words.
std::string npy_name(pl::DType dtype) {
  if (dtype == pl::DType::bool_) return "pred";
  const std::string name(pl::name(dtype));
  return pl::is_signed(dtype) ? "i" + name.substr(1) : name;
}

std::string one_of(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest(word, known);
  return near.empty() ? fmt::format("valid names: {}", fmt::join(known, ", "))
                      : fmt::format("did you mean `{}`? There are {}", near, fmt::join(known, ", "));
}

Outcome<void> check_which(const Options& o) {
  if (o.kernel.empty() == o.ptx.empty())
    return user_error(
        o.kernel.empty() ? "a kernel or --ptx FILE is missing" : "a kernel and --ptx: only one can run",
        o.kernel.empty() ? fmt::format("`{} list` names the kernels", program_name()) : "");
  if (names_bundle(o.kernel) && !(o.sizes.empty() && o.settings.empty() && o.in.empty()))
    return user_error("--shape, --set and --in belong to kernels by name",
                      "a bundle brings its launch and its arrays");
  if (!o.ptx.empty() && !(o.sizes.empty() && o.settings.empty()))
    return user_error("--shape and --set belong to kernels by name",
                      "a file of PTX takes --grid, --block and --arg");
  if (!o.ptx.empty() && !o.in.empty())
    return user_error("--in belongs to kernels by name",
                      "a file of PTX is given its arrays by --arg in:f16[4,4]=a.npy");
  const bool foreign_only = !o.grid.empty() || !o.block.empty() || !o.cluster.empty() || !o.args.empty() ||
                            !o.binds.empty() || !o.entry.empty() || o.smem != 0;
  if (o.ptx.empty() && foreign_only)
    return user_error("--entry, --grid, --block, --cluster, --smem, --arg and --bind belong to --ptx",
                      "a kernel by name knows its launch; it takes --shape and --set");
  return {};
}

Outcome<void> record(Subject& subject, const Options& o) {
  const auto spec = find_spec(o, o.kernel);
  if (!spec) return tl::make_unexpected(spec.error());
  subject.spec = *spec;
  subject.name = subject.spec->name;
  try {
    subject.choice = kernels::choose(*subject.spec, o.sizes, o.settings, subject.arch);
    const auto start = Clock::now();
    subject.kernel = std::make_unique<plgpu::Kernel>(subject.spec->build(subject.choice));
    subject.record_seconds = seconds_since(start);
  } catch (const isa::Error& e) {
    return failure_of(e.diagnostics());
  }
  return {};
}

Outcome<void> parse_file(Subject& subject, const Options& o) {
  auto text = read_text(o.ptx, most_of_ptx);
  if (!text) return user_error(text.error());
  subject.name = std::filesystem::path(o.ptx).filename().string();
  return take_ptx(subject, o, std::move(*text), o.ptx);
}

// Inputs from files where the user gave some, else as the kernel makes them.
Outcome<void> make_inputs(Subject& subject, const Options& o) {
  const auto start = Clock::now();
  double bytes = 0;
  for (const pl::ShapeDtype& type : subject.kernel->launch.inputs) bytes += bytes_of(type);
  for (const pl::ShapeDtype& type : subject.kernel->launch.outputs) bytes += bytes_of(type);
  if (const auto fits = check_memory(bytes); !fits && o.values != "none") return fits;
  const bool blank = o.values == "none";
  std::vector<Array> inputs =
      blank ? blank_inputs(*subject.kernel)
            : kernels::inputs_of(*subject.spec, *subject.kernel, subject.choice, o.seed);
  subject.contents.assign(inputs.size(),
                          blank ? "no contents: --values none" : fmt::format("seed {}", o.seed));
  for (const auto& [name, file] : o.in) {
    const auto at = std::ranges::find(subject.spec->inputs, name);
    const size_t i = size_t(at - subject.spec->inputs.begin());
    if (i >= inputs.size())
      return user_error(fmt::format("--in {}={}: {} has no input `{}`", name, file, subject.name, name),
                        one_of(name, subject.spec->inputs));
    auto array = read_array(file, inputs[i].type);
    if (!array) return tl::make_unexpected(array.error());
    inputs[i] = std::move(*array);
    subject.contents[i] = file;
  }
  std::vector<std::string> names(
      subject.spec->inputs.begin(),
      subject.spec->inputs.begin() + ptrdiff_t(std::min(inputs.size(), subject.spec->inputs.size())));
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

Outcome<void> take_output_files(Subject& subject, const Options& o) {
  std::vector<std::string> names;
  for (size_t i = 0; i < subject.job.buffers.size(); ++i)
    if (subject.job.is_output(i)) names.push_back(subject.job.buffers[i].name);
  for (const auto& [name, file] : o.out) {
    if (std::ranges::find(names, name) == names.end())
      return user_error(fmt::format("--out {}={}: {} has no output `{}`", name, file, subject.name, name),
                        one_of(name, names));
    subject.out_files[name] = file;
  }
  return {};
}

}  // namespace

Outcome<void> take_ptx(Subject& subject, const Options& o, std::string text, const std::string& path) {
  const auto start = Clock::now();
  auto module = isa::parse(text, path);
  if (!module) return failure_of(module.error(), text);
  subject.module = std::make_unique<isa::Module>(std::move(*module));
  // PTX that is only printed may be for any chip, unless one is named.
  const bool any_chip = o.command == Command::ptx && !o.names_arch;
  isa::Diagnostics problems =
      any_chip ? isa::verify(*subject.module) : isa::verify(*subject.module, *subject.arch);
  std::erase_if(problems, [](const isa::Diagnostic& d) { return d.severity == isa::Severity::warning; });
  subject.record_seconds = seconds_since(start);
  if (!problems.empty()) return failure_of(problems, text);
  subject.job.module = subject.module.get();
  subject.ptx_name = path;
  subject.job.ptx = std::move(text);
  return {};
}

const isa::Module& Subject::program() const {
  return module ? *module : kernel ? kernel->module : *job.module;
}

double bytes_of(const pl::ShapeDtype& type) {
  double bytes = pl::bits(type.dtype) / 8.0;
  for (const int64_t d : type.shape) bytes *= static_cast<double>(d);
  return bytes;
}

Outcome<void> check_memory(double bytes) {
  const double there =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (bytes <= there) return {};
  return user_error(fmt::format("the arrays need {:.3g} GB, this machine has {:.3g} GB of memory",
                                bytes * 1e-9, there * 1e-9),
                    "take smaller sizes");
}

std::string describe(const pl::ShapeDtype& type) { return npy::describe(npy_name(type.dtype), type.shape); }

Outcome<Array> read_array(const std::string& file, const pl::ShapeDtype& type) {
  auto read = read_npy(file, {.dtype = npy_name(type.dtype), .shape = type.shape});
  if (!read) return user_error(read.error());
  Array array;
  array.type = type;
  array.bytes = std::move(read->data);
  return array;
}

Outcome<void> write_array(const std::string& file, const Array& array) {
  const auto written = write_npy(file, npy_name(array.dtype()), array.type.shape, array.bytes);
  if (!written) return not_written(written.error());
  return {};
}

Outcome<const kernels::KernelSpec*> find_spec(const Options& options, const std::string& word) {
  if (const auto file = kernel_file_word(word)) return kernel_of_file(*file);
  const auto at = std::ranges::find(options.kernels, word, &kernels::KernelSpec::name);
  if (at != options.kernels.end()) return &*at;
  std::vector<std::string> names;
  for (const kernels::KernelSpec& s : options.kernels) names.push_back(s.name);
  const bool is_file = word.ends_with(".ptx");
  return user_error(fmt::format("there is no kernel `{}`", word),
                    is_file ? fmt::format("a file of PTX runs with `--ptx {}`", word) : one_of(word, names));
}

namespace {

// A chip that can run the file's `.target`; empty: none, or no file of PTX that can be read twice.
std::string_view chip_for_file(const std::string& path) {
  constexpr size_t head = 64 * 1024;  // the directive is among the first lines
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return {};
  std::string text(head, ' ');
  std::ifstream file(path);
  text.resize(static_cast<size_t>(file.read(text.data(), head).gcount()));
  std::istringstream in(std::move(text));
  std::string word;
  while (in >> word) {
    if (word != ".target") continue;
    in >> word;
    const isa::ArchSpec* const chip = isa::chip_for(std::string_view(word).substr(0, word.find(',')));
    return chip == nullptr ? std::string_view() : chip->name;
  }
  return {};
}

}  // namespace

void choose_chip(Options& options) {
  if (options.names_arch) return;
  std::string file = options.ptx;
  if (file.empty() && names_bundle(options.kernel))
    if (const auto manifest = cuda::bundle::read_manifest(options.kernel))
      file = (std::filesystem::path(options.kernel) / manifest->ptx_file).string();
  if (!file.empty()) {
    const std::string_view chip = chip_for_file(file);
    if (chip.starts_with("b")) options.arch = chip;  // older targets run on the default one
    return;
  }
  const auto at = std::ranges::find(options.kernels, options.kernel, &kernels::KernelSpec::name);
  if (at != options.kernels.end()) options.arch = kernels::chip_of(*at).name;
}

Outcome<const isa::ArchSpec*> find_architecture(const std::string& name) {
  if (const isa::ArchSpec* arch = isa::find_arch(name)) return arch;
  std::vector<std::string> names;
  for (const isa::ArchSpec& arch : isa::architectures()) names.emplace_back(arch.name);
  return user_error(fmt::format("there is no architecture `{}`", name), one_of(name, names));
}

Outcome<Subject> load_program(const Options& options) {
  Subject subject;
  const auto arch = find_architecture(options.arch);
  if (!arch) return tl::make_unexpected(arch.error());
  subject.arch = *arch;
  if (const auto ok = check_which(options); !ok) return tl::make_unexpected(ok.error());
  const auto made = !options.ptx.empty()           ? parse_file(subject, options)
                    : names_twin(options.kernel)   ? take_twin(subject, options)
                    : names_bundle(options.kernel) ? open_bundle(subject, options)
                                                   : record(subject, options);
  if (!made) return tl::make_unexpected(made.error());
  return subject;
}

Outcome<Subject> load_subject(const Options& options) {
  auto subject = load_program(options);
  if (!subject) return subject;
  if (subject->pair == nullptr) {
    const auto bound = subject->recorded       ? take_bundle(*subject, options)
                       : subject->is_foreign() ? bind_arguments(*subject, options)
                                               : make_inputs(*subject, options);
    if (!bound) return tl::make_unexpected(bound.error());
  }
  if (const auto taken = take_output_files(*subject, options); !taken)
    return tl::make_unexpected(taken.error());
  auto registers = registers_of(options, *subject->arch, subject->job);
  if (!registers) return tl::make_unexpected(registers.error());
  subject->registers = *registers;
  return subject;
}

}  // namespace palladion::cli
