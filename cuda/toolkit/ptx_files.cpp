#include "cuda/toolkit/ptx_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cuda/fatbin/program.h"
#include "isa/host/files.h"

namespace palladion::cuda::toolkit {

using namespace host;

namespace {

bool is_machine_code(std::string_view head) {
  return head.starts_with("\177ELF") || head.starts_with("P\xED\x55\xBA");
}

const isa::ArchSpec* chip_for_code(const std::string& path) {
  const auto bytes = read_text(path, most_of_ptx);
  if (!bytes) return nullptr;
  for (const isa::ArchSpec& arch : isa::architectures()) {
    const auto program = fatbin::program_in(*bytes, static_cast<uint32_t>(arch.sm));
    if (!program || program->newer) continue;
    return isa::chip_for(fatbin::target_of(program->texts.front()));
  }
  return nullptr;
}

}  // namespace

Outcome<std::vector<std::string>> ptx_of_file(const std::string& path, const isa::ArchSpec& arch) {
  auto bytes = read_text(path, most_of_ptx);
  if (!bytes) return user_error(bytes.error());
  if (!is_machine_code(*bytes)) return std::vector{std::move(*bytes)};
  auto program = fatbin::program_in(*bytes, static_cast<uint32_t>(arch.sm));
  if (!program) return user_error(path + ": " + program.error());
  return std::move(program->texts);
}

const isa::ArchSpec* chip_for_file(const std::string& path) {
  constexpr size_t head = 64 * 1024;  // the directive is among the first lines
  std::error_code ignored;
  // A file of /proc says that it is empty, and may give nothing for ever.
  if (!std::filesystem::is_regular_file(path, ignored) || std::filesystem::file_size(path, ignored) == 0)
    return nullptr;
  std::string text(head, ' ');
  std::ifstream file(path);
  text.resize(static_cast<size_t>(file.read(text.data(), head).gcount()));
  if (is_machine_code(text)) return chip_for_code(path);
  std::istringstream in(std::move(text));
  std::string word;
  while (in >> word) {
    if (word != ".target") continue;
    in >> word;
    return isa::chip_for(std::string_view(word).substr(0, word.find(',')));
  }
  return nullptr;
}

}  // namespace palladion::cuda::toolkit
