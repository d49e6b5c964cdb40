#include "verify/bundles/contraction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "cuda/toolkit/ptxas.h"
#include "sim/program/compile/compile.h"
#include "verify/arrays/words.h"
#include "verify/launch/runner.h"

namespace palladion::verify {
namespace {

constexpr size_t longest_ptx = 1 << 20;  // ptxas takes minutes for more
constexpr size_t most_lines_named = 8;

struct Copies {
  uint32_t fused = 0, rounded = 0;
};

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view w) { return text.starts_with(w); });
}

// "HFMA2 R0, R1, 1, 1, R2": a sum of halves, as ptxas writes it now and then.
bool multiplies_by_one(std::string_view instruction) {
  for (size_t at = instruction.find(", "); at != std::string_view::npos;
       at = instruction.find(", ", at + 1)) {
    const std::string_view operand = instruction.substr(at + 2);
    if (starts_with_any(operand, {"1,", "-1,"})) return true;
  }
  return false;
}

void count(std::string_view instruction, Copies& copies) {
  if (starts_with_any(instruction, {"FFMA", "DFMA", "HFMA2"}))
    ++(multiplies_by_one(instruction) ? copies.rounded : copies.fused);
  else if (starts_with_any(instruction, {"FADD", "DADD", "HADD2"}))
    ++copies.rounded;
}

// "        /*0170*/              @!P0 FMUL R4, R0, R0 ;": from the name of the operation on; empty: no
// instruction.
std::string_view instruction_of(std::string_view line) {
  const size_t comment = line.find("*/");
  if (line.find("/*") == std::string_view::npos || comment == std::string_view::npos) return {};
  line.remove_prefix(comment + 2);
  const auto skip_spaces = [&] { line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size())); };
  skip_spaces();
  if (line.starts_with('@')) {
    line.remove_prefix(std::min(line.find(' '), line.size()));
    skip_spaces();
  }
  return line;
}

std::map<uint32_t, Copies> copies_by_line(std::string_view entry, std::string_view machine_code) {
  std::map<uint32_t, Copies> out;
  bool inside = false;
  uint32_t at = 0;
  const std::string begins = fmt::format(".text.{}:", entry);
  for (const std::string_view line : split(machine_code, "\n")) {
    if (line.starts_with(".text.")) inside = line == begins;
    if (!inside) continue;
    const size_t named = line.find("line ");
    if (line.find("## File") != std::string_view::npos && line.find("ptx") < named &&
        named != std::string_view::npos)
      std::from_chars(line.data() + named + 5, line.data() + line.size(), at);
    else
      count(instruction_of(line), out[at]);
  }
  return out;
}

bool is_sum_of_floats(const isa::Instruction& i) {
  const isa::Operation o = isa::operation(i);
  return (o == isa::Operation::add || o == isa::Operation::subtract) && i.form->slot("type") >= 0 &&
         isa::is_float(i.type());
}

std::string lines_text(const std::vector<uint32_t>& lines) {
  const std::span<const uint32_t> named(lines.data(), std::min(lines.size(), most_lines_named));
  return fmt::format("{} (PTX line{} {}{})", lines.size(), lines.size() == 1 ? "" : "s",
                     fmt::join(named, ", "), named.size() < lines.size() ? ", ..." : "");
}

std::string answer_text(const SumsOfPtxas& s) {
  std::vector<std::string> parts;
  if (!s.contracted.empty())
    parts.push_back("contracts " + lines_text(s.contracted) + " that the machine rounds");
  if (!s.rounded.empty()) parts.push_back("rounds " + lines_text(s.rounded) + " that the machine contracts");
  if (!s.mixed.empty()) parts.push_back("contracts some copies of " + lines_text(s.mixed));
  if (parts.empty())
    return fmt::format("decides all {} as the machine: contraction is not the reason", s.alike);
  return fmt::format("decides {} as the machine, {}", s.alike, fmt::join(parts, ", "));
}

std::string ask(const Job& job, const isa::ArchSpec& arch, const sim::Program& program) {
  for (const char* tool : {"ptxas", "nvdisasm"})
    if (!cuda::toolkit::find_tool(tool))
      return fmt::format("ptxas was not asked: there is no {} in CUDA_HOME or on PATH", tool);
  const std::string ptx = ptx_of(job);
  if (ptx.size() > longest_ptx) return "ptxas was not asked: the PTX is longer than 1 MiB";
  const auto code = cuda::toolkit::ask_machine_code(ptx, arch.ptx_target);
  if (!code) return "ptxas was not asked: " + code.error().text;
  return "of the sums of floats ptxas " + answer_text(sums_of_ptxas(program, job.entry, *code));
}

}  // namespace

SumsOfPtxas sums_of_ptxas(const sim::Program& program, std::string_view entry,
                          std::string_view machine_code) {
  const std::map<uint32_t, Copies> copies = copies_by_line(entry, machine_code);
  std::vector<bool> contracted(program.code.size(), false);
  for (const sim::Contracted& c : program.contracted) contracted[c.sum] = true;
  SumsOfPtxas out;
  for (const sim::MicroOp& op : program.code) {
    if (op.instruction == nullptr || !is_sum_of_floats(*op.instruction)) continue;
    const uint32_t line = op.instruction->origin.ptx_line;
    const auto found = copies.find(line);
    if (found == copies.end() || found->second.fused + found->second.rounded == 0) continue;
    const Copies& c = found->second;
    if (c.fused != 0 && c.rounded != 0)
      out.mixed.push_back(line);
    else if ((c.fused != 0) == contracted[op.pc])
      ++out.alike;
    else
      (c.fused != 0 ? out.contracted : out.rounded).push_back(line);
  }
  return out;
}

std::string contraction_note(const Job& job, const isa::ArchSpec& arch) {
  const isa::Module& module = *job.module;
  const isa::Function* const entry = module.find_entry(job.entry);
  if (entry == nullptr) return {};
  const auto program = sim::compile(module, *entry, arch, std::vector<uint64_t>(module.symbols.size()));
  const bool has_sums = std::ranges::any_of(program->code, [](const sim::MicroOp& op) {
    return op.instruction != nullptr && is_sum_of_floats(*op.instruction);
  });
  if (!has_sums) return {};
  std::string text;
  if (const uint32_t sums = program->sums_across_passes; sums != 0)
    text = fmt::format(
        "\n{} sum{} of the program add{} a product of an earlier pass of a loop: ptxas contracts some when "
        "it "
        "unrolls the loop, which is not modelled",
        sums, sums == 1 ? "" : "s", sums == 1 ? "s" : "");
  return text + "\n" + ask(job, arch, *program);
}

}  // namespace palladion::verify
