// A subject as reports name it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/subjects/subject.h"
#include "isa/core/symbol_name.h"

namespace palladion::cli {
namespace {

using Reference = Launched::Reference;

std::string title(const Subject& subject) {
  std::vector<std::string> parts;
  if (subject.pair != nullptr)
    return fmt::format("{}{}: {}", subject.name, subject.name.ends_with(":good") ? ", the right twin of" : "",
                       subject.pair->title);
  if (subject.recorded)
    return fmt::format("{}, entry {}, captured on {}", subject.name, isa::readable_name(subject.job.entry),
                       subject.recorded->manifest.chip);
  if (subject.spec == nullptr)
    return fmt::format("{}, entry {}", subject.name, isa::readable_name(subject.job.entry));
  for (const kernels::SizeParam& p : subject.spec->sizes)
    parts.push_back(fmt::format("{}={}", p.name, subject.choice.size(p.name)));
  for (const kernels::Setting& s : subject.spec->settings)
    parts.push_back(fmt::format("{}={}", s.name, subject.choice.word(s.name)));
  return fmt::format("{}  {}", subject.name, fmt::join(parts, " "));
}

Reference reference_of(const Subject& subject) {
  if (subject.recorded) return Reference::device;
  if (subject.spec == nullptr) return Reference::unknown;
  return subject.spec->reference ? Reference::function : Reference::missing;
}

}  // namespace

Launched launched(const Subject& subject) {
  return {.name = subject.name,
          .title = title(subject),
          .arch = subject.arch,
          .job = &subject.job,
          .ptx_name = subject.ptx_name,
          .contents = subject.contents,
          .sizes = subject.choice.sizes,
          .settings = subject.choice.settings,
          .settings_from = subject.settings_from,
          .reference = reference_of(subject),
          .record_seconds = subject.record_seconds,
          .input_seconds = subject.input_seconds};
}

}  // namespace palladion::cli
