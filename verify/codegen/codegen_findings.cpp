#include "verify/codegen/codegen_findings.h"

#include <algorithm>
#include <set>

#include "isa/core/trim.h"
#include "sim/check/catalogue/catalogue.h"
#include "sim/launch/phrases/phrase.h"
#include "sim/machine/exec/place.h"
#include "sim/program/product_stages.h"
#include "sim/sass/pressure.h"

namespace palladion::verify {
namespace {

using cuda::native::CompilerRemark;
using sim::Finding, sim::Phrase, sim::Program, sim::Site, sim::StageBreak, sim::Statement, sim::say;
using sim::check::Code;
using Kind = StageBreak::Kind;

// A remark of ptxas, or of some of them, as a code of ours.
struct Meaning {
  std::string_view remark;
  Code code = Code::remark_of_ptxas;
  std::vector<Kind> kinds = {};  // what it is about
};
const Meaning meanings[] = {
    {"C7509", Code::serialised_products, {Kind::call_of_extern}},
    {"C7510", Code::serialised_products, {Kind::call_of_products, Kind::call_of_extern}},
    {"C7511", Code::serialised_products},
    {"C7512", Code::serialised_products},
    {"C7513", Code::serialised_products, {Kind::input_defined}},
    {"C7514", Code::serialised_products, {Kind::accumulator_read, Kind::accumulator_written}},
    {"C7515", Code::serialised_products, {Kind::accumulator_written}},
    {"C7516", Code::serialised_products},
    {"C7517", Code::injected_by_ptxas},
    {"C7518", Code::serialised_products},
    {"C7519", Code::injected_by_ptxas},
    {"C7520", Code::serialised_products},
};

Meaning meaning_of(const CompilerRemark& remark) {
  const auto known = std::ranges::find(meanings, remark.code, &Meaning::remark);
  return known == std::end(meanings) ? Meaning{remark.code} : *known;
}

// No warp executed it.
Site place_of(const Program& program, sim::Pc pc, sim::Does does) {
  Site site = sim::site_at(program, pc, {0, 0, 0}, sim::WarpOfCta{}, 0);
  site.part.does = does;
  return site;
}

Finding finding_of(Code code, const Program& program, Statement message) {
  Finding out{.code = {}, .kernel = program.entry->name, .message = std::move(message)};
  sim::check::complete(out, code);
  return out;
}

std::string name_of(const Program& program, sim::Pc at, uint32_t reg) {
  return program.module->functions[program.code[at].function].registers[reg].name;
}

sim::Does does_of(Kind kind) {
  if (kind == Kind::accumulator_read) return sim::Does::reads;
  return kind == Kind::input_defined || kind == Kind::accumulator_written ? sim::Does::writes
                                                                          : sim::Does::uses;
}

void add_sites(Finding& finding, const Program& program, const StageBreak& b) {
  finding.sites.push_back(place_of(program, b.at, does_of(b.kind)));
  finding.sites.push_back(place_of(program, b.product, sim::Does::still_runs));
}

Statement message_of(const Program& program, const StageBreak& b) {
  if (b.kind == Kind::call_of_products || b.kind == Kind::call_of_extern) {
    const isa::Operand& callee = program.code[b.at].instruction->operands[static_cast<size_t>(
        std::get<isa::Call>(*program.code[b.at].effect).function)];
    const std::string& name = program.module->symbols[callee.id].name;
    return b.kind == Kind::call_of_extern ? say<Phrase::call_of_extern>(name)
                                          : say<Phrase::call_of_products>(name);
  }
  const std::string name = name_of(program, b.at, b.reg);
  if (b.kind == Kind::accumulator_read) return say<Phrase::accumulator_read_in_flight>(name);
  if (b.kind == Kind::accumulator_written) return say<Phrase::accumulator_written_in_flight>(name);
  return b.copied ? say<Phrase::input_defined_in_flight>(name) : say<Phrase::input_written_in_flight>(name);
}

// One for each line of the author's.
std::vector<StageBreak> breaks_by_line(const Program& program, const auto& wanted) {
  std::vector<StageBreak> out;
  std::set<std::pair<Kind, sim::SourcePlace>> seen;
  for (const StageBreak& b : sim::stage_breaks(program)) {
    sim::SourcePlace place = sim::place_of(place_of(program, b.at, sim::Does::nothing));
    if (place.line != 0) place.ptx_line = 0;
    if (wanted(b) && seen.emplace(b.kind, place).second) out.push_back(b);
  }
  return out;
}

// What stands on a line of the PTX.
Site site_on(const AssembledText& ptx, uint32_t line) {
  Site site;
  site.source = cuda::native::author_location(ptx.text, line);
  if (ptx.is_file) site.ptx_line = line;
  std::string_view text = ptx.text;
  for (uint32_t n = 1; n < line && text.find('\n') != std::string_view::npos; ++n)
    text.remove_prefix(text.find('\n') + 1);
  site.instruction = isa::trimmed(text.substr(0, text.find('\n')));
  return site;
}

Finding finding_of(const CompilerRemark& remark, const Program& program, const AssembledText& ptx) {
  constexpr size_t most_places = 3;
  const Meaning meaning = meaning_of(remark);
  Finding out = finding_of(meaning.code, program, say<Phrase::remark_of_ptxas>(remark.code, remark.text));
  if (remark.line != 0) out.sites.push_back(site_on(ptx, remark.line));
  if (meaning.kinds.empty()) return out;
  const auto breaks = breaks_by_line(program, [&](const StageBreak& b) {
    const std::string& in = program.module->functions[program.code[b.at].function].name;
    return in == remark.function && std::ranges::find(meaning.kinds, b.kind) != meaning.kinds.end();
  });
  for (size_t i = 0; i < std::min(breaks.size(), most_places); ++i) add_sites(out, program, breaks[i]);
  return out;
}

Statement reason_of(sim::sass::RegisterPeak::Limit limit) {
  using Limit = sim::sass::RegisterPeak::Limit;
  return limit == Limit::setmaxnreg ? say<Phrase::given_by_setmaxnreg>()
         : limit == Limit::launch   ? say<Phrase::given_by_launch>()
                                    : say<Phrase::at_most_255>();
}

Finding spills_of(const cuda::native::ResourceUse& use, const Program& program) {
  Finding out = finding_of(Code::spilled_registers, program,
                           say<Phrase::spilled>(use.spill_store_bytes, use.spill_load_bytes));
  out.notes.push_back(say<Phrase::stack_frame>(use.registers, use.stack_bytes));
  if (const auto peak = sim::sass::register_peak(program))
    out.sites.push_back(place_of(program, peak->at, sim::Does::nothing));
  return out;
}

}  // namespace

std::vector<Finding> findings_of(const cuda::toolkit::PtxasAnswer& said, const Program& program,
                                 const AssembledText& ptx) {
  std::vector<Finding> out;
  if (said.use.spill_store_bytes + said.use.spill_load_bytes != 0)
    out.push_back(spills_of(said.use, program));
  for (const CompilerRemark& remark : said.remarks) out.push_back(finding_of(remark, program, ptx));
  return out;
}

std::vector<Finding> predicted_findings(const Program& program) {
  std::vector<Finding> out;
  if (const auto peak = sim::sass::register_peak(program); peak && peak->live > peak->given) {
    out.push_back(finding_of(Code::spilled_registers, program,
                             say<Phrase::more_live_than_given>(peak->live, peak->given)));
    out.back().notes.push_back(reason_of(peak->limit));
    out.back().sites.push_back(place_of(program, peak->at, sim::Does::nothing));
  }
  for (const StageBreak& b : breaks_by_line(program, [](const StageBreak&) { return true; })) {
    out.push_back(finding_of(Code::serialised_products, program, message_of(program, b)));
    add_sites(out.back(), program, b);
  }
  for (Finding& f : out) f.notes.push_back(say<Phrase::predicted>());
  return out;
}

}  // namespace palladion::verify
