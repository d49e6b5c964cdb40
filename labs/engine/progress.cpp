#include "labs/engine/progress.h"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <cstdlib>

#include "isa/host/files.h"
#include "report/json/document.h"

namespace palladion::labs {

using namespace host;

namespace {

namespace fs = std::filesystem;
namespace json = report::json;

fs::path data_folder() {
  const char* const data = std::getenv("XDG_DATA_HOME");
  if (data != nullptr && *data != 0) return fs::path(data) / "palladion";
  const char* const home = std::getenv("HOME");
  return home != nullptr && *home != 0 ? fs::path(home) / ".local" / "share" / "palladion" : fs::path();
}

json::object progress_json(const LabProgress& p) {
  return {{"folder", p.folder},
          {"checks", p.checks},
          {"hints", p.hints},
          {"solution_seen", p.solution_seen},
          {"passed_alone", p.passed_alone},
          {"passed", p.passed}};
}

LabProgress progress_of(const json::object& o) {
  return {.folder = std::string(o.at("folder").as_string()),
          .checks = o.at("checks").to_number<uint64_t>(),
          .hints = o.at("hints").to_number<uint64_t>(),
          .solution_seen = o.at("solution_seen").as_bool(),
          .passed_alone = o.at("passed_alone").as_bool(),
          .passed = std::string(o.at("passed").as_string())};
}

}  // namespace

Outcome<ProgressFile> ProgressFile::read() {
  ProgressFile out;
  const fs::path folder = data_folder();
  if (folder.empty()) return out;  // nowhere to keep it
  out.path_ = folder / "labs.json";
  std::error_code none;
  if (!fs::exists(out.path_, none)) return out;
  const auto text = read_text(out.path_, most_of_settings);
  if (!text) return user_error(text.error());
  try {
    const json::value all = json::parse(*text);
    for (const auto& [name, value] : all.as_object())
      out.labs_.emplace(std::string(name), progress_of(value.as_object()));
  } catch (const std::exception& e) {
    return user_error(fmt::format("{} is malformed: {}", out.path_.string(), e.what()),
                      "remove it to start anew");
  }
  return out;
}

Outcome<void> ProgressFile::write() const {
  if (path_.empty()) return {};
  std::error_code failed;
  fs::create_directories(path_.parent_path(), failed);
  json::object all;
  for (const auto& [name, progress] : labs_) all.emplace(name, progress_json(progress));
  if (const auto written = write_text(path_, report::json_text(all)); !written)
    return not_written(written.error());
  return {};
}

LabProgress ProgressFile::of(const Lab& lab) const {
  const auto at = labs_.find(lab.name);
  return at == labs_.end() ? LabProgress{} : at->second;
}

std::string LabProgress::state() const {
  if (!passed.empty()) return passed_alone ? "passed" : "passed, after the solution";
  if (solution_seen) return "solution seen";
  return folder.empty() && checks == 0 ? "" : "started";
}

const Lab* ProgressFile::next(const Lab& behind) const {
  const Lab* first = nullptr;
  bool is_behind = false;
  for (const Lab& lab : all_labs()) {
    const bool open = of(lab).passed.empty();
    if (open && is_behind) return &lab;
    if (open && first == nullptr) first = &lab;
    is_behind |= &lab == &behind;
  }
  return first;
}

}  // namespace palladion::labs
