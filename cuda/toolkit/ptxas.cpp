#include "cuda/toolkit/ptxas.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "isa/host/cache.h"
#include "isa/host/files.h"
#include "isa/host/process.h"
#include "verify/arrays/arrays.h"
#include "verify/arrays/words.h"

namespace palladion::cuda::toolkit {

using namespace host;

namespace {

namespace fs = std::filesystem;

struct Said {
  bool ok = false;
  std::string words;
};

// Of a text that may be anything.
constexpr QuietRun limits{.most = 1 << 20, .cpu_seconds = 60};

Said run(const std::vector<std::string>& command, const QuietRun& options = {}) {
  Ended ended = run_quietly(command, options);
  if (ended.signal != 0) ended.output += fmt::format("\nended by signal {}\n", ended.signal);
  return {ended.code == 0, std::move(ended.output)};
}

Said assemble(const fs::path& ptxas, std::string_view ptx, std::string_view target) {
  const TemporaryFolder folder;
  const fs::path source = folder.path() / "kernel.ptx";
  if (folder.path().empty()) return {false, "there is no place for temporary files"};
  if (const auto written = write_text(source, ptx); !written) return {false, written.error()};
  return run({ptxas, "-v", fmt::format("-arch={}", target), "-o", folder.path() / "kernel.cubin", source},
             limits);
}

// Another ptxas at the same place has another size or date.
fs::path name_of_answer(const fs::path& ptxas, std::string_view ptx, std::string_view target) {
  const std::string text = fmt::format("{} {}\n{}", identity_of(ptxas), target, ptx);
  return fmt::format("{:016x}", palladion::hash(std::as_bytes(std::span(text))));
}

// A cache that cannot be written is no error.
Said assemble_once(const fs::path& ptxas, std::string_view ptx, std::string_view target) {
  const auto folder = private_cache("ptxas");
  if (!folder) return assemble(ptxas, ptx, target);
  const fs::path name = *folder / name_of_answer(ptxas, ptx, target);
  for (const bool ok : {true, false})
    if (auto known = read_text(name.string() + (ok ? ".txt" : ".refused"), most_of_settings))
      return {ok, std::move(*known)};
  Said said = assemble(ptxas, ptx, target);
  (void)write_text(name.string() + (said.ok ? ".txt" : ".refused"), said.words);
  return said;
}

}  // namespace

std::optional<fs::path> find_tool(std::string_view name) {
  std::vector<fs::path> folders;
  if (const char* home = std::getenv("CUDA_HOME")) folders.push_back(fs::path(home) / "bin");
  if (const char* path = std::getenv("PATH"))
    for (const std::string_view folder : split(path, ":")) folders.emplace_back(folder);
  folders.emplace_back("/usr/local/cuda/bin");
  for (const auto& folder : folders)
    if (::access((folder / name).c_str(), X_OK) == 0) return folder / name;
  return std::nullopt;
}

Outcome<void> need_ptxas() {
  if (find_tool("ptxas")) return {};
  return unsupported("there is no ptxas in CUDA_HOME or on PATH",
                     "without one: --registers estimate, or the number itself; --codegen predicted");
}

Outcome<PtxasAnswer> ask_ptxas(std::string_view ptx, std::string_view entry, std::string_view target) {
  if (const auto there = need_ptxas(); !there) return tl::make_unexpected(there.error());
  const auto ptxas = find_tool("ptxas");
  const Said said = assemble_once(*ptxas, ptx, target);
  if (!said.ok)
    return user_error(
        fmt::format("{} does not assemble the kernel for {}:\n{}", ptxas->string(), target, said.words));
  const auto all = cuda::native::parse_resource_use(said.words);
  const auto found = all.find(entry);
  if (found == all.end() || found->second.registers == 0)
    return user_error(
        fmt::format("{} says nothing of the registers of `{}`:\n{}", ptxas->string(), entry, said.words));
  return PtxasAnswer{found->second, cuda::native::parse_remarks(said.words)};
}

Outcome<std::string> ask_machine_code(std::string_view ptx, std::string_view target) {
  const auto ptxas = find_tool("ptxas"), nvdisasm = find_tool("nvdisasm");
  if (!ptxas || !nvdisasm)
    return unsupported(fmt::format("there is no {} in CUDA_HOME or on PATH", ptxas ? "nvdisasm" : "ptxas"));
  const TemporaryFolder folder;
  if (folder.path().empty()) return user_error("there is no place for temporary files");
  const fs::path source = folder.path() / "kernel.ptx", code = folder.path() / "kernel.cubin";
  if (const auto written = write_text(source, ptx); !written) return user_error(written.error());
  const Said made = run({*ptxas, "-lineinfo", fmt::format("-arch={}", target), "-o", code, source});
  if (!made.ok)
    return user_error(
        fmt::format("{} does not assemble the kernel for {}:\n{}", ptxas->string(), target, made.words));
  Said printed = run({*nvdisasm, "-gp", "-c", code});
  if (!printed.ok) return user_error(fmt::format("{}: {}", nvdisasm->string(), printed.words));
  return std::move(printed.words);
}

}  // namespace palladion::cuda::toolkit
