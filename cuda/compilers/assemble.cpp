#include "cuda/compilers/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include "cuda/cubin/carried_ptx.h"
#include "cuda/cubin/source_text.h"
#include "isa/arch/arch.h"
#include "isa/arch/target.h"
#include "isa/core/link.h"
#include "isa/text/parse.h"
#include "isa/text/print.h"
#include "isa/verify/verify.h"

namespace palladion::cuda::compilers {
namespace {

using Faults = std::vector<Fault>;

Faults faults_of(const isa::Diagnostics& diagnostics, const std::string& file) {
  Faults out;
  for (const isa::Diagnostic& d : diagnostics)
    if (d.severity != isa::Severity::warning)
      out.push_back({d.loc.file.empty() ? file : d.loc.file, d.loc.line, d.message});
  return out;
}

// Whether a chip for `have` runs code for `need`, as far as ptxas decides it by their numbers.
bool too_new(const std::string& need, const std::string& have) {
  return isa::parse_target(need).number > isa::parse_target(have).number;
}

Faults check(const isa::Module& module, const Options& options, const std::string& file) {
  const std::string& target = options.target.empty() ? module.target : options.target;
  if (too_new(module.target, target))
    return {{file, 0, "SM version specified by .target is higher than default SM version assumed"}};
  const isa::ArchSpec* const chip = isa::chip_for(target);
  return faults_of(chip != nullptr ? isa::verify(module, *chip) : isa::verify(module), file);
}

// The number behind `.version`: "99.99"; 0: none.
std::pair<int, std::string> version_of(std::string_view ptx) {
  constexpr std::string_view directive = ".version";
  const size_t at = ptx.find(directive);
  if (at == std::string_view::npos) return {};
  const size_t first = std::min(ptx.find_first_not_of(" \t", at + directive.size()), ptx.size());
  const size_t end = std::min(ptx.find_first_not_of("0123456789.", first), ptx.size());
  int major = 0;
  std::from_chars(ptx.data() + first, ptx.data() + end, major);
  return {major, std::string(ptx.substr(first, end - first))};
}

// PTX of later versions of the same toolkit generation is taken: the verifier knows its instructions.
tl::expected<isa::Module, Faults> read(const Source& source) {
  if (const auto [major, version] = version_of(source.ptx); major > newest_major)
    return tl::unexpected(Faults{{source.name, 1,
                                  fmt::format("Unsupported .version {}; current version is '{}.{}'", version,
                                              newest_major, newest_minor)}});
  auto module = isa::parse(source.ptx);
  if (!module) return tl::unexpected(faults_of(module.error(), source.name));
  return std::move(*module);
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

// An instruction with its modifiers.
bool may_be_contracted(std::string_view word) {
  const std::string_view op = word.substr(0, word.find('.'));
  if (op != "add" && op != "sub" && op != "mul") return false;
  for (const char* rounding : {".rn", ".rz", ".rm", ".rp"})
    if (word.find(rounding) != std::string_view::npos) return false;
  const std::string_view type = word.substr(word.rfind('.'));
  return type.starts_with(".f") || type.starts_with(".bf");
}

}  // namespace

std::string without_contraction(std::string_view ptx) {
  std::string out;
  bool comment = false;
  for (size_t at = 0; at < ptx.size();) {
    comment = ptx[at] == '\n' ? false : comment || ptx.substr(at, 2) == "//";
    size_t end = at;
    while (end < ptx.size() && is_word(ptx[end])) ++end;
    const std::string_view word = ptx.substr(at, std::max<size_t>(end - at, 1));
    const bool begins = at == 0 || ptx[at - 1] != '%';
    if (!comment && begins && end != at && may_be_contracted(word))
      out += std::string(word.substr(0, 3)) + ".rn" + std::string(word.substr(3));
    else
      out += word;
    at += word.size();
  }
  return out;
}

std::string with_register_limit(std::string_view ptx, int registers) {
  constexpr std::string_view entry = ".entry";
  std::string out;
  for (size_t at = 0; at < ptx.size();) {
    const size_t begins = std::min(ptx.find(entry, at), ptx.size());
    const size_t body = std::min(ptx.find_first_of("{;", begins), ptx.size());
    const std::string_view head = ptx.substr(begins, body - begins);
    const auto has = [&](std::string_view bound) { return head.find(bound) != std::string_view::npos; };
    out += ptx.substr(at, body - at);
    if (body < ptx.size() && ptx[body] == '{' && !has(".maxntid") && !has(".minnctapersm") &&
        !has(".maxnreg"))
      out += fmt::format(".maxnreg {} ", registers);
    if (body < ptx.size()) out += ptx[body];
    at = body + 1;
  }
  return out;
}

tl::expected<std::string, std::vector<Fault>> assemble(std::span<const Source> sources,
                                                       const Options& options) {
  if (sources.empty()) return tl::unexpected(Faults{{"", 0, "there is no input"}});
  std::vector<isa::Module> parts;
  for (const Source& source : sources) {
    auto part = read(source);
    if (!part) return tl::unexpected(std::move(part.error()));
    parts.push_back(std::move(*part));
  }
  std::vector<const isa::Module*> pointers;
  for (const isa::Module& part : parts) pointers.push_back(&part);
  const auto linked = isa::link(pointers);
  if (!linked) return tl::unexpected(faults_of(linked.error(), sources.front().name));
  if (Faults faults = check(*linked, options, sources.front().name); !faults.empty())
    return tl::unexpected(std::move(faults));
  std::string text = sources.size() == 1 ? sources.front().ptx : isa::print(*linked);
  for (const Source& source : sources)
    if (sources.size() > 1) text += cubin::source_sections(source.ptx);
  if (options.registers > 0) text = with_register_limit(text, options.registers);
  return cubin::carry(options.fmad ? text : without_contraction(text));
}

std::string text_of(std::span<const Fault> faults, std::string_view tool) {
  std::string out;
  for (const Fault& f : faults) {
    const std::string_view level =
        f.message.starts_with("Unsupported .version") || f.line == 0 ? "fatal" : "error";
    if (f.line != 0)
      out += fmt::format("{} {}, line {}; {}   : {}\n", tool, f.file, f.line, level, f.message);
    else
      out += fmt::format("{} {}   : {}\n", tool, level, f.message);
  }
  return out;
}

}  // namespace palladion::cuda::compilers
