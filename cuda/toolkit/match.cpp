#include "cuda/toolkit/match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "cuda/cubin/carried_ptx.h"
#include "cuda/cubin/cubin.h"
#include "cuda/toolkit/ptxas.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "verify/arrays/words.h"

namespace palladion::cuda::toolkit {

using namespace host;

namespace {

namespace fs = std::filesystem;

constexpr size_t most_files = 100'000;
constexpr uint64_t most_of_cubin = uint64_t{256} << 20;

// A text, and the files that hold it: one of them may have the cubin beside it.
struct Candidate {
  std::vector<fs::path> paths;
  std::string text;
};

std::vector<Candidate> candidates(const std::string& entry, const std::vector<fs::path>& folders) {
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    std::error_code failed;
    auto at = fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied, failed);
    for (const fs::recursive_directory_iterator end; !failed && at != end && files.size() < most_files;
         at.increment(failed))
      if (at->path().extension() == ".ptx" && at->is_regular_file(failed)) files.push_back(at->path());
  }
  std::ranges::sort(files);
  std::vector<Candidate> out;
  std::map<std::string, size_t> seen;
  for (const fs::path& file : files) {
    auto text = read_text(file, most_of_ptx);
    if (!text) continue;
    text->resize(std::min(text->find('\0'), text->size()));
    if (!cubin::has_entry(*text, entry)) continue;
    const auto [known, is_new] = seen.emplace(*text, out.size());
    if (is_new) out.push_back({{}, std::move(*text)});
    out[known->second].paths.push_back(file);
  }
  return out;
}

// The word behind `.target`.
std::string target_of(std::string_view ptx) {
  size_t at = ptx.find(".target");
  if (at == std::string_view::npos) return "";
  at = ptx.find_first_not_of(" \t", at + 7);
  if (at == std::string_view::npos) return "";
  return std::string(ptx.substr(at, ptx.find_first_of(" ,\t\r\n", at) - at));
}

std::vector<std::string> assemblers() {
  std::vector<std::string> out;
  const auto add = [&](const fs::path& path) {
    std::error_code none;
    if (fs::is_regular_file(path, none) && std::ranges::find(out, path.string()) == out.end())
      out.push_back(path.string());
  };
  if (const auto tool = find_tool("ptxas")) add(*tool);
  for (const char* variable : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"})
    if (const char* path = std::getenv(variable)) add(path);
  return out;
}

// Options that name files, or say more only.
bool matters(const std::string& option) { return option != "-v" && option != "--verbose"; }

std::vector<std::vector<std::string>> option_sets(const cubin::MadeBy& made, const std::string& target) {
  std::vector<std::vector<std::string>> out;
  std::vector<std::string> noted;
  for (const std::string& option : made.options)
    if (matters(option)) noted.push_back(option);
  if (!noted.empty()) out.push_back(noted);
  out.push_back({"-arch=" + target});
  out.push_back({"-arch=" + target, "-lineinfo"});
  out.push_back({"-arch=" + target, "-lineinfo", "--fmad=false"});
  return out;
}

std::string assemble(const std::string& ptxas, const std::vector<std::string>& options,
                     const std::string& text) {
  const TemporaryFolder folder;
  if (folder.path().empty() || !write_text(folder.path() / "kernel.ptx", text)) return {};
  std::vector<std::string> command = {ptxas};
  command.insert(command.end(), options.begin(), options.end());
  const std::string output = (folder.path() / "kernel.cubin").string();
  for (const std::string& word : {std::string("-o"), output, (folder.path() / "kernel.ptx").string()})
    command.push_back(word);
  if (run_quietly(command).code != 0) return {};
  return read_text(output, most_of_cubin).value_or("");
}

}  // namespace

Match match_ptx(const std::string& cubin, const std::string& entry, const std::vector<fs::path>& folders) {
  Match out;
  const std::vector<Candidate> all = candidates(entry, folders);
  for (const Candidate& c : all)
    for (const fs::path& path : c.paths) {
      const auto beside = read_text(fs::path(path).replace_extension(".cubin"), most_of_cubin);
      if (!beside || cubin.empty() || !beside->starts_with(cubin)) continue;  // as far as its tables reach
      out = {c.text, fmt::format("{}: the cubin beside it has the same bytes", path.string()), {}};
      return out;
    }
  if (auto carried = cubin::ptx_with(cubin, entry); carried && carried->linked.empty())
    return {std::move(carried->text), std::string(cubin::carried_source), {}};
  const std::string_view code = cubin::code_of(cubin, entry);
  const cubin::MadeBy made = cubin::made_by(cubin);
  const std::vector<std::string> tools = assemblers();
  for (const std::string& ptxas : tools)
    for (const Candidate& c : all)
      for (const auto& options : option_sets(made, target_of(c.text))) {
        if (code.empty()) continue;
        const std::string again = assemble(ptxas, options, c.text);
        if (cubin::code_of(again, entry) != code) continue;
        out = {c.text,
               fmt::format("{}: {} {} gives the same code", c.paths.front().string(), ptxas,
                           fmt::join(options, " ")),
               {}};
        return out;
      }
  if (all.empty())
    out.why_not = fmt::format("no file of PTX with the entry `{}` was found", entry);
  else if (tools.empty())
    out.why_not =
        fmt::format("{} files of PTX have the entry; there is no ptxas to assemble them", all.size());
  else
    out.why_not = fmt::format(
        "{} files of PTX have the entry `{}`, none assembles to the recorded code{}", all.size(), entry,
        made.release.empty() ? std::string() : fmt::format(" (which was made by {})", made.release));
  return out;
}

Match match_text(const std::string& carried, const std::string& entry, const std::vector<fs::path>& folders) {
  const std::string statements = cubin::statements_of(carried);
  for (const Candidate& c : candidates(entry, folders))
    if (cubin::statements_of(c.text) == statements)
      return {
          c.text, fmt::format("{}: the text that the machine code carries", c.paths.front().string()), {}};
  return {{}, {}, fmt::format("no file of PTX has the text of `{}`", entry)};
}

std::vector<fs::path> dump_folders() {
  std::vector<fs::path> out;
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const auto add = [&](const fs::path& path) {
    std::error_code none;
    if (!path.empty() && fs::is_directory(path, none)) out.push_back(path);
  };
  add(variable("TRITON_CACHE_DIR"));
  if (const std::string home = variable("HOME"); out.empty() && !home.empty())
    add(fs::path(home) / ".triton/cache");
  add(variable("TRITON_DUMP_DIR"));
  for (const char* name : {"MOSAIC_GPU_DUMP_TO", "MOSAIC_GPU_DUMP_PTX_TO"}) add(variable(name));
  const std::string flags = variable("XLA_FLAGS");
  for (const std::string_view flag : split(flags, " "))
    if (flag.starts_with("--xla_dump_to=")) add(std::string(flag.substr(14)));
  return out;
}

}  // namespace palladion::cuda::toolkit
