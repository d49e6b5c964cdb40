#include "cli/options/subject_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "cli/support/output.h"
#include "cli/support/program_name.h"
#include "cuda/bundle/read.h"
#include "cuda/toolkit/ptx_files.h"
#include "kernels/files/kernel_file.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

constexpr std::string_view zoo_prefix = "zoo/";

auto dims_of(std::string option) {
  return [option = std::move(option)](const std::string& text) -> Outcome<isa::Dim3> {
    const auto dims = parse_dims(text);
    if (!dims) return user_error(fmt::format("{}: {}", option, dims.error()));
    constexpr uint64_t most_ctas = UINT32_MAX;
    if (option == "--grid" && (uint64_t{dims->x} * dims->y > most_ctas || dims->count() > most_ctas))
      return user_error(fmt::format("--grid {}: a grid has 1 to {} CTAs", text, most_ctas));
    return *dims;
  };
}

// The file with the PTX that is run; empty: the program records it.
std::string file_of_ptx(const SubjectWord& what) {
  if (const auto* file = std::get_if<PtxFile>(&what)) return file->path;
  const auto* bundle = std::get_if<BundleFolder>(&what);
  if (bundle == nullptr) return {};
  const auto manifest = cuda::bundle::read_manifest(bundle->path);
  return manifest ? (std::filesystem::path(bundle->path) / manifest->ptx_file).string() : std::string();
}

Outcome<verify::Binding> binding_in(const std::string& text) {
  const size_t equals = std::min(text.find('='), text.size());
  verify::Binding binding{.name = text.substr(0, equals),
                          .text = text.substr(std::min(equals + 1, text.size())),
                          .spec = ScalarArg{}};
  auto spec = parse_arg(binding.text);
  if (!spec) return user_error(fmt::format("--bind {}={}", binding.name, spec.error()));
  binding.spec = std::move(*spec);
  return binding;
}

// What a kernel that is not chosen by name does not take.
Outcome<void> refuse_sizes(const char* help) {
  return user_error("--shape, --set and --in belong to kernels by name", help);
}

}  // namespace

SubjectWord subject_word(const std::string& word) {
  if (const auto file = kernel_file_word(word)) return *file;
  if (word.starts_with(zoo_prefix)) {
    const std::string_view text = std::string_view(word).substr(zoo_prefix.size());
    const size_t colon = text.find(':');
    return TwinWord{
        .pair = std::string(text.substr(0, colon)),
        .which = std::string(colon == std::string_view::npos ? "broken" : text.substr(colon + 1))};
  }
  if (!word.empty() && cuda::bundle::is_bundle(word)) return BundleFolder{word};
  return NamedKernel{word};
}

Outcome<const isa::ArchSpec*> arch_named(const std::string& name) {
  if (const isa::ArchSpec* arch = isa::find_arch(name)) return arch;
  const std::vector<std::string> names = names_of(isa::architectures());
  const std::string near = nearest(name, names);
  return user_error(fmt::format("there is no architecture `{}`", name),
                    near.empty()
                        ? fmt::format("valid names: {}", fmt::join(names, ", "))
                        : fmt::format("did you mean `{}`? There are {}", near, fmt::join(names, ", ")));
}

void state_arch(Words& words, const isa::ArchSpec*& arch) {
  words.parsed("--arch", arch, arch_named, "chip: h200, h100, b200, b300")
      .one_of(names_of(isa::architectures()));
}

Outcome<const isa::ArchSpec*> chip_for(const SubjectRequest& request, const isa::ArchSpec* arch) {
  if (arch != nullptr) return arch;
  if (const std::string file = file_of_ptx(request.what); !file.empty()) {
    const isa::ArchSpec* const chip = cuda::toolkit::chip_for_file(file);
    if (chip != nullptr && chip->name.starts_with("b")) return chip;  // older targets run on the default one
  } else if (const auto* named = std::get_if<NamedKernel>(&request.what)) {
    const auto at = std::ranges::find(request.kernels, named->name, &kernels::KernelSpec::name);
    if (at != request.kernels.end()) return &kernels::chip_of(*at);
  } else if (const auto* word = std::get_if<KernelFileWord>(&request.what)) {
    const auto spec = kernels::kernel_of_file(word->file, word->kernel, print_err);
    if (!spec) return tl::make_unexpected(spec.error());
    return &kernels::chip_of(**spec);
  }
  return &isa::default_arch();
}

void SubjectWords::state(Words& words) {
  words.text("KERNEL", kernel,
             fmt::format("a name from `{} list`; a file of kernels, add.cpp or add.cpp:NAME; a bundle, "
                         "the folder of a captured "
                         "launch; zoo/NAME is a broken kernel, zoo/NAME:good its correct twin",
                         program_name()),
             Value::kernel);
  words.pairs("--shape", sizes, "sizes: m=512,n=512");
  words.pairs("--set", settings, "settings: tile_m=128,stages=4");
  words.number("--seed", seed, 0, any_number, "seed of random inputs");
  words.pairs("--in", in, "an input from a file: NAME=file.npy", Value::named_input);
  state_arch(words, arch);
  words.text("--ptx", ptx, "a file of PTX to run instead of a kernel, or a .cubin or .fatbin that holds it",
             Value::input);
  words.text("--entry", entry, "the .entry of the PTX file, if it has several");
  words.parsed("--grid", grid, dims_of("--grid"), "CTAs: x,y,z");
  words.parsed("--block", block, dims_of("--block"), "threads a CTA: x,y,z");
  words.parsed("--cluster", cluster, dims_of("--cluster"), "CTAs a cluster: x,y,z");
  words.bytes("--smem", smem, 0, "dynamic shared memory a CTA, bytes");
  words.texts("--arg", args,
              "a parameter, in order: i32:5, in:f16[512,256]=randn(7), out:..., tmap:..., a texture or "
              "surface: tex:f32[48,64]=a.npy,filter=linear,address=wrap/clamp, surf:out:f32[48,64]",
              Value::argument);
  words.texts("--bind", binds,
              "what a .texref, .surfref or .samplerref variable of the PTX file holds: "
              "NAME=tex:f32[48,64]=a.npy, NAME=surf:out:f32[64], NAME=sampler:filter=linear",
              Value::binding);
  words.texts("--source", sources,
              "a folder whose sources a report of PTX may show, besides the folder of the PTX", Value::input);
}

bool SubjectWords::names_launch() const {
  return grid || block || cluster || !args.empty() || !binds.empty() || !entry.empty() || smem != 0;
}

Outcome<void> SubjectWords::check() const {
  if (kernel.empty() == ptx.empty())
    return user_error(
        kernel.empty() ? "a kernel or --ptx FILE is missing" : "a kernel and --ptx: only one can run",
        kernel.empty() ? fmt::format("`{} list` names the kernels", program_name()) : "");
  const SubjectWord what = subject_word(kernel);
  const bool none = sizes.empty() && settings.empty();
  if (std::holds_alternative<BundleFolder>(what) && !(none && in.empty()))
    return refuse_sizes("a bundle brings its launch and its arrays");
  if (!ptx.empty() && !none)
    return user_error("--shape and --set belong to kernels by name",
                      "a file of PTX takes --grid, --block and --arg");
  if (!ptx.empty() && !in.empty())
    return user_error("--in belongs to kernels by name",
                      "a file of PTX is given its arrays by --arg in:f16[4,4]=a.npy");
  if (ptx.empty() && names_launch())
    return user_error("--entry, --grid, --block, --cluster, --smem, --arg and --bind belong to --ptx",
                      "a kernel by name knows its launch; it takes --shape and --set");
  if (std::holds_alternative<TwinWord>(what) && !(none && in.empty()))
    return refuse_sizes("kernels of the zoo have no sizes and settings");
  return {};
}

Outcome<PtxFile> SubjectWords::ptx_file() const {
  PtxFile file{{.entry = entry, .grid = grid, .block = block, .cluster = cluster, .dynamic_shared = smem},
               ptx};
  for (const std::string& text : args) {
    auto spec = parse_arg(text);
    if (!spec) return user_error("--arg " + spec.error());
    file.args.push_back(std::move(*spec));
  }
  for (const std::string& text : binds) {
    auto binding = binding_in(text);
    if (!binding) return tl::make_unexpected(binding.error());
    file.binds.push_back(std::move(*binding));
  }
  return file;
}

Outcome<SubjectRequest> SubjectWords::request(const Invocation& invocation) const {
  if (const auto ok = check(); !ok) return tl::make_unexpected(ok.error());
  SubjectRequest request{.what = subject_word(kernel),
                         .kernels = invocation.kernels,
                         .sizes = sizes,
                         .settings = settings,
                         .in = in,
                         .out = out,
                         .seed = seed,
                         .names_arch = arch != nullptr,
                         .sources = sources};
  if (!ptx.empty()) {
    auto file = ptx_file();
    if (!file) return tl::make_unexpected(file.error());
    request.what = std::move(*file);
  }
  const auto chip = chip_for(request, arch);
  if (!chip) return tl::make_unexpected(chip.error());
  request.arch = *chip;
  return request;
}

}  // namespace palladion::cli
