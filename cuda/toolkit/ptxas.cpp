#include "cuda/toolkit/ptxas.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "isa/host/cache.h"
#include "isa/host/files.h"
#include "verify/arrays/arrays.h"
#include "verify/arrays/words.h"

namespace palladion::cli {
namespace {

namespace fs = std::filesystem;

// A folder that goes with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code none;
    std::string name = (fs::temp_directory_path(none) / "palladion_XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code none;
    if (!path_.empty()) fs::remove_all(path_, none);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }  // empty: none could be made

 private:
  fs::path path_;
};

std::string quoted(const fs::path& path) {
  std::string out = "'";
  for (const char c : path.string()) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

struct Said {
  bool ok = false;
  std::string words;
};

Said run(const std::string& command) {
  Said said;
  std::FILE* pipe = ::popen((command + " 2>&1 </dev/null").c_str(), "r");
  if (pipe == nullptr) return {false, "it did not start"};
  char buffer[4096];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, pipe)) said.words.append(buffer, got);
  const int status = ::pclose(pipe);
  said.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return said;
}

Said assemble(const fs::path& ptxas, std::string_view ptx, std::string_view target) {
  const TemporaryFolder folder;
  const fs::path source = folder.path() / "kernel.ptx";
  if (folder.path().empty()) return {false, "there is no place for temporary files"};
  if (const auto written = write_text(source, ptx); !written) return {false, written.error()};
  return run(fmt::format("{} -v -arch={} -o {} {}", quoted(ptxas), target,
                         quoted(folder.path() / "kernel.cubin"), quoted(source)));
}

// Another ptxas at the same place has another size or date.
std::string name_of_answer(const fs::path& ptxas, std::string_view ptx, std::string_view target) {
  const std::string text = fmt::format("{} {}\n{}", identity_of(ptxas), target, ptx);
  return fmt::format("{:016x}.txt", palladion::hash(std::as_bytes(std::span(text))));
}

// A cache that cannot be written is no error.
Said assemble_once(const fs::path& ptxas, std::string_view ptx, std::string_view target) {
  const fs::path folder = cache_folder("ptxas");
  const fs::path file = folder.empty() ? fs::path() : folder / name_of_answer(ptxas, ptx, target);
  if (!file.empty())
    if (auto known = read_text(file, most_of_settings)) return {true, std::move(*known)};
  Said said = assemble(ptxas, ptx, target);
  std::error_code failed;
  if (said.ok && !file.empty() && (fs::create_directories(folder, failed), !failed))
    (void)write_text(file, said.words);
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
  return unsupported("--registers ptxas: there is no ptxas in CUDA_HOME or on PATH",
                     "without one: --registers estimate, or the number itself");
}

Outcome<cuda::native::ResourceUse> ask_ptxas(std::string_view ptx, std::string_view entry,
                                             std::string_view target) {
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
  return found->second;
}

Outcome<std::string> ask_machine_code(std::string_view ptx, std::string_view target) {
  const auto ptxas = find_tool("ptxas"), nvdisasm = find_tool("nvdisasm");
  if (!ptxas || !nvdisasm)
    return unsupported(fmt::format("there is no {} in CUDA_HOME or on PATH", ptxas ? "nvdisasm" : "ptxas"));
  const TemporaryFolder folder;
  if (folder.path().empty()) return user_error("there is no place for temporary files");
  const fs::path source = folder.path() / "kernel.ptx", code = folder.path() / "kernel.cubin";
  if (const auto written = write_text(source, ptx); !written) return user_error(written.error());
  const Said made = run(
      fmt::format("{} -lineinfo -arch={} -o {} {}", quoted(*ptxas), target, quoted(code), quoted(source)));
  if (!made.ok)
    return user_error(
        fmt::format("{} does not assemble the kernel for {}:\n{}", ptxas->string(), target, made.words));
  Said printed = run(fmt::format("{} -gp -c {}", quoted(*nvdisasm), quoted(code)));
  if (!printed.ok) return user_error(fmt::format("{}: {}", nvdisasm->string(), printed.words));
  return std::move(printed.words);
}

}  // namespace palladion::cli
