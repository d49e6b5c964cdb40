#include "kernels/zoo/ptx_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "isa/core/whole_error.h"
#include "isa/text/parse.h"
#include "isa/verify/verify.h"
#include "kernels/zoo/entry.h"
#include "verify/launch/arg_spec.h"

namespace palladion::kernels::zoo {
namespace {

constexpr std::string_view broken_only = "//! broken", good_only = "//! good", any_fact = "//! ";

std::string_view trim_end(std::string_view text) {
  const size_t last = text.find_last_not_of(" \t");
  return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

// One line of a twin; empty when it is the other's.
std::string_view twin_line(std::string_view line, bool broken) {
  const std::string_view mine = broken ? broken_only : good_only, other = broken ? good_only : broken_only;
  line = trim_end(line);
  if (line.ends_with(other)) return {};
  if (line.ends_with(mine)) return trim_end(line.substr(0, line.size() - mine.size()));
  return line;
}

std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

// The program ends with the line of its last brace; the facts begin behind an empty line.
std::string_view program_of(std::string_view file) { return file.substr(0, file.rfind("\n}\n") + 3); }

// "//! key value" of one twin.
struct Fact {
  std::string_view key, value;
};

std::vector<Fact> facts_of(std::string_view file, bool broken) {
  std::vector<Fact> facts;
  for (file.remove_prefix(program_of(file).size()); !file.empty();) {
    std::string_view line = twin_line(take_line(file), broken);
    if (!line.starts_with(any_fact)) continue;
    line.remove_prefix(any_fact.size());
    const size_t end = std::min(line.find(' '), line.size());
    const size_t value = std::min(line.find_first_not_of(' ', end), line.size());
    facts.push_back({line.substr(0, end), line.substr(value)});
  }
  return facts;
}

// `result`'s value; a file of the zoo that is not well-formed is a bug of ours.
template <class Result>
auto checked(Result result, std::string_view file) {
  PLD_CHECK(result.has_value(), fmt::format("zoo/{}: {}", file, result.error()));
  return *std::move(result);
}

OnDevice on_device_named(std::string_view word) {
  if (word == "hangs") return OnDevice::hangs;
  if (word == "faults") return OnDevice::faults;
  return word == "no" ? OnDevice::no : OnDevice::ends;
}

void describe(Pair& pair, const Fact& fact) {
  if (fact.key == "entry") std::tie(pair.entry, pair.place) = parse_entry(fact.value);
  if (fact.key == "title") pair.title = fact.value;
  if (fact.key == "code") pair.code = fact.value;
  if (fact.key == "also") pair.also = fact.value;
  if (fact.key == "severity" && fact.value == "strict") pair.severity = sim::FindingSeverity::strict;
  if (fact.key == "on_device") pair.on_device = on_device_named(fact.value);
  if (fact.key == "needs" && fact.value == "exploration") pair.needs_exploration = true;
}

// "NAME SPEC": a parameter of the entry, and the array that it brings if it brings one.
void add_argument(Job& job, std::string_view text, std::string_view file) {
  const size_t space = std::min(text.find(' '), text.size() - 1);
  const ArgSpec spec = checked(parse_arg(text.substr(space + 1)), file);
  const auto* array = std::get_if<ArrayArg>(&spec);
  const auto* map = std::get_if<TensorMapArg>(&spec);
  PLD_CHECK(array != nullptr || map != nullptr, text);
  if (map != nullptr && map->array) array = &*map->array;
  int buffer = map != nullptr ? map->over : -1;
  if (array != nullptr) {
    buffer = int(job.buffers.size());
    job.buffers.push_back({std::string(text.substr(0, space)), array->role, array->type,
                           array->fill ? filled(array->type, *array->fill) : Array()});
  }
  if (map != nullptr)
    job.params.push_back(TensorMapValue{buffer, checked(tensor_map_of(*map), file)});
  else
    job.params.push_back(PointerValue{buffer});
}

void configure(Job& job, const Fact& fact, std::string_view file) {
  if (fact.key == "grid") job.grid = checked(parse_dims(fact.value), file);
  if (fact.key == "block") job.block = checked(parse_dims(fact.value), file);
  if (fact.key == "cluster") job.cluster = checked(parse_dims(fact.value), file);
  if (fact.key == "shared") job.dynamic_shared = checked(parse_dims(fact.value), file).x;
  if (fact.key == "arg") add_argument(job, fact.value, file);
}

// A twin with everything that its job points to.
struct PtxTwin {
  std::string text;
  isa::Module module;
};

std::shared_ptr<const PtxTwin> parse_twin(std::string text) {
  auto parsed = isa::parse(text);
  if (!parsed) throw isa::WholeError(parsed.error());
  const isa::Diagnostics wrong = isa::verify(*parsed);
  if (!wrong.empty()) throw isa::WholeError(wrong);
  return std::make_shared<const PtxTwin>(PtxTwin{std::move(text), std::move(*parsed)});
}

Specimen launch_of(const PtxFile& file, bool broken) {
  const auto twin = parse_twin(twin_text(program_of(file.text), broken));
  const isa::Function* entry = twin->module.find_entry("");
  Job job;
  job.module = &twin->module;
  job.ptx = twin->text;
  job.entry = entry == nullptr ? std::string() : entry->name;
  job.grid = job.block = job.cluster = {1, 1, 1};
  for (const Fact& fact : facts_of(file.text, broken)) configure(job, fact, file.name);
  return {twin, std::move(job)};
}

}  // namespace

std::string twin_text(std::string_view text, bool broken) {
  std::string out;
  while (!text.empty()) {
    out += twin_line(take_line(text), broken);
    out += '\n';
  }
  return out;
}

Pair ptx_pair(const PtxFile& file) {
  Pair pair;
  pair.name = file.name;
  for (const Fact& fact : facts_of(file.text, true)) describe(pair, fact);
  pair.make = [file](bool broken) { return launch_of(file, broken); };
  return pair;
}

}  // namespace palladion::kernels::zoo
