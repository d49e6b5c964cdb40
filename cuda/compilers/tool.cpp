#include "cuda/compilers/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>

#include "cuda/fatbin/program.h"
#include "isa/arch/target.h"

namespace palladion::cuda::compilers {
namespace {

constexpr int failed = 255;

struct Call {
  Options options;
  std::vector<std::string> files, texts;
  std::string output = "elf.o";
  bool version = false, help = false, verbose = false;
  std::string error;
};

// Options whose value may be the next word; those of the second list alone have an effect here.
constexpr std::string_view with_value[] = {
    "Ofast-compile", "Ofc", "allow-expensive-optimizations", "def-load-cache", "dlcm", "def-store-cache",
    "dscm", "device-function-maxrregcount", "func-maxrregcount", "device-stack-protector", "entry", "e",
    "force-load-cache", "flcm", "force-store-cache", "fscm", "machine", "m", "maxntid", "minnctapersm",
    "opt-level", "O", "position-independent-code", "pic", "register-usage-level", "regUsageLevel", "sanitize",
    "split-compile", "library-path", "L", "library", "l", "options-file", "optf",
    // these
    "output-file", "o", "gpu-name", "arch", "input-as-string", "ias", "fmad", "maxrregcount"};

struct Option {
  std::string_view name;
  std::optional<std::string> value;
};

// "--name=value", "-name", "-o" "value", "-O3".
Option option_at(const std::vector<std::string>& words, size_t& at) {
  std::string_view word = words[at];
  word.remove_prefix(word.starts_with("--") ? 2 : 1);
  const size_t equals = word.find('=');
  Option out{word.substr(0, equals), std::nullopt};
  if (equals != std::string_view::npos)
    out.value = word.substr(equals + 1);
  else if (std::ranges::find(with_value, out.name) != std::end(with_value) && at + 1 < words.size())
    out.value = words[++at];
  return out;
}

// ptxas takes an option more than once for some; the last one counts.
void take(Call& call, const Option& o) {
  const auto is = [&](std::string_view name, std::string_view shorter) {
    return o.name == name || o.name == shorter;
  };
  if (is("version", "V")) call.version = true;
  if (is("help", "h")) call.help = true;
  if (is("verbose", "v")) call.verbose = true;
  if (!o.value) return;
  if (is("output-file", "o")) call.output = *o.value;
  if (is("gpu-name", "arch")) call.options.target = *o.value;
  if (is("input-as-string", "ias")) call.texts.push_back(*o.value);
  if (o.name == "fmad") call.options.fmad = *o.value != "false";
  if (o.name == "maxrregcount") call.options.registers = std::atoi(o.value->c_str());
}

// sm_90a, compute_90: a number of ptxas 12 or 13.
bool is_target(std::string_view word) {
  constexpr int known[] = {50, 52, 53, 60, 61,  62,  70,  72,  75,  80, 86,
                           87, 88, 89, 90, 100, 101, 103, 110, 120, 121};
  const bool virtual_one = word.starts_with("compute_");
  if (!virtual_one && !word.starts_with("sm_")) return false;
  const int number = isa::parse_target("sm_" + std::string(word.substr(word.find('_') + 1))).number;
  return std::ranges::find(known, number) != std::end(known);
}

Call call_of(const std::vector<std::string>& words) {
  Call call;
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i].size() > 1 && words[i][0] == '-')
      take(call, option_at(words, i));
    else
      call.files.push_back(words[i]);
  }
  const std::string& target = call.options.target;
  if (!target.empty() && !is_target(target))
    call.error = fmt::format("Value '{}' is not defined for option 'gpu-name'", target);
  return call;
}

std::optional<std::string> contents_of(const std::string& path) {
  std::ifstream in(path == "-" ? "/dev/stdin" : path, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// PTX, or what carries it.
tl::expected<std::vector<Source>, std::string> sources_of(const Call& call) {
  std::vector<Source> out;
  for (const std::string& text : call.texts) out.push_back({"application ptx input", text});
  for (const std::string& file : call.files) {
    const auto bytes = contents_of(file);
    if (!bytes) return tl::unexpected(fmt::format("Input file '{}' could not be opened", file));
    if (!bytes->starts_with("\177ELF") && !bytes->starts_with("P\xED\x55\xBA")) {
      out.push_back({file, bytes->substr(0, bytes->find('\0'))});
      continue;
    }
    const int chip = isa::parse_target(call.options.target).number;
    auto program = fatbin::program_in(*bytes, static_cast<uint32_t>(chip));
    if (!program) return tl::unexpected(fmt::format("'{}': {}", file, program.error()));
    for (std::string& text : program->texts) out.push_back({file, std::move(text)});
  }
  return out;
}

Said fatal(std::string_view tool, const std::string& why) {
  return {failed, "", fmt::format("{} fatal   : {}\n", tool, why)};
}

std::string version_text(std::string_view tool) {
  return fmt::format(
      "{}: Palladion's stand-in for NVIDIA's: PTX is verified, not compiled\n"
      "Cuda compilation tools, release {}, V{}.0\nBuild palladion\n",
      tool, toolkit_release, toolkit_release);
}

// With -v, what ptxas says of each kernel and is known here; not its registers.
std::string kernels_in(std::span<const Source> sources, const std::string& target) {
  std::string out;
  for (const Source& s : sources)
    for (size_t at = s.ptx.find(".entry "); at != std::string::npos; at = s.ptx.find(".entry ", at + 1)) {
      const size_t name = at + 7, end = s.ptx.find_first_of(" \t\r\n(", name);
      out += fmt::format("ptxas info    : Compiling entry function '{}' for '{}'\n",
                         s.ptx.substr(name, std::min(end, s.ptx.size()) - name), target);
    }
  return out;
}

}  // namespace

tl::expected<Options, std::string> options_of(const std::vector<std::string>& words) {
  Call call = call_of(words);
  if (!call.error.empty()) return tl::unexpected(call.error);
  return std::move(call.options);
}

Said run_tool(std::string_view name, const std::vector<std::string>& words) {
  const std::string_view tool = name.starts_with("nvlink") ? "nvlink" : "ptxas";
  const Call call = call_of(words);
  if (call.version) return {0, version_text(tool), ""};
  if (call.help || words.empty())
    return {0, fmt::format("\nUsage  : {} [options] <ptx file>,...\n", tool), ""};
  if (!call.error.empty()) return fatal(tool, call.error);
  const auto sources = sources_of(call);
  if (!sources) {
    Said said = fatal(tool, sources.error());
    if (tool == "ptxas") said.error += "ptxas fatal   : Ptx assembly aborted due to errors\n";
    return said;
  }
  if (sources->empty()) return fatal(tool, "No input files specified");
  Options options = call.options;
  const bool parse_only = options.target.starts_with("compute_");
  if (parse_only) options.target = "sm_" + options.target.substr(8);
  const auto cubin = assemble(*sources, options);
  if (!cubin) {
    Said said{failed, "", text_of(cubin.error(), tool)};
    if (tool == "ptxas") said.error += "ptxas fatal   : Ptx assembly aborted due to errors\n";
    return said;
  }
  if (!parse_only) {
    std::ofstream out(call.output, std::ios::binary);
    if (!out.write(cubin->data(), static_cast<std::streamsize>(cubin->size())))
      return fatal(tool, fmt::format("Could not open output file '{}'", call.output));
  }
  return {0, "", call.verbose && tool == "ptxas" ? kernels_in(*sources, call.options.target) : ""};
}

}  // namespace palladion::cuda::compilers
