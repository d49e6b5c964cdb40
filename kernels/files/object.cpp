#include "kernels/files/object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <ranges>
#include <span>

#include "isa/host/cache.h"
#include "isa/host/files.h"
#include "isa/host/interrupt.h"
#include "isa/host/process.h"
#include "kernels/files/compiler.h"
#include "verify/arrays/arrays.h"
#include "verify/arrays/words.h"

namespace palladion::kernels {

using namespace host;

namespace {

namespace fs = std::filesystem;

std::string key_of(std::string_view text) {
  return fmt::format("{:016x}", palladion::hash(std::as_bytes(std::span(text))));
}

// What was not used for 30 days is removed when something new comes.
void remove_old(const fs::path& folder) {
  std::error_code none;
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24 * 30);
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.last_write_time(none) < limit && !none) fs::remove(entry.path(), none);
}

// Precompiled headers are large: of those that were not used for an hour, the four used last stay.
void remove_large(const fs::path& folder) {
  std::error_code none;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() != ".h" && entry.path().extension() != ".sum")
      files.emplace_back(entry.last_write_time(none), entry.path());
  std::ranges::sort(files, std::greater());
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(1);
  constexpr size_t kept = 4;
  for (size_t i = kept; i < files.size(); ++i)
    if (files[i].first < limit) fs::remove(files[i].second, none);
}

void note_use(const fs::path& file) {
  std::error_code none;
  fs::last_write_time(file, fs::file_time_type::clock::now(), none);
}

Ended run_compiler(const std::vector<std::string>& command, const fs::path&) { return run_process(command); }

Ended run_into(const RunCompiler& run, std::vector<std::string> command, const fs::path& output) {
  command.emplace_back("-o");
  command.push_back(output.string());
  const Unfinished removed_when_ended(output);
  return run(command, output);
}

void note_damage(Kept kept, const fs::path& file, const Note& note) {
  if (kept == Kept::damaged && note) note(fmt::format("{} is damaged: made again\n", file.string()));
}

// palladion/program.h, precompiled for this compiler and these options; the options that use it. Without it
// (no room, an odd compiler) files compile as well, slower.
std::vector<std::string> precompiled(const Compiler& compiler, const std::vector<std::string>& command,
                                     const std::string& identity, const fs::path& cache, const Note& note) {
  const fs::path header = cache / (key_of(identity) + ".h");
  const fs::path result = header.string() + (compiler.is_clang ? ".pch" : ".gch");
  std::error_code none;
  const Kept kept = state_of_kept(result);
  if (kept != Kept::whole || !fs::exists(header, none)) {
    remove_old(cache);
    remove_large(cache);
    note_damage(kept, result, note);
    if (note) note(fmt::format("precompiling <palladion/program.h> for {}, once\n", compiler.name));
    if (!write_text(header, "#include <palladion/program.h>\n")) return {};
    std::vector<std::string> words = command;
    for (const std::string& word : {std::string("-x"), std::string("c++-header"), header.string()})
      words.push_back(word);
    const fs::path unfinished = name_aside(result);
    const bool is_made = run_into(run_compiler, words, unfinished).code == 0;
    if (is_made) fs::rename(unfinished, result, none);
    if (!is_made || none || !seal(result)) {
      fs::remove(unfinished, none);
      return {};
    }
  }
  note_use(result);
  // The name states all that the header depends on; clang would also ask for the date of `header`.
  if (compiler.is_clang) return {"-include-pch", result.string(), "-Xclang", "-fno-validate-pch"};
  return {"-include", header.string()};
}

// The files of a rule "x.o: a.cpp b.h \" of make, without those of the cache.
std::vector<fs::path> files_of_rule(const std::string& rule, const fs::path& cache) {
  std::vector<fs::path> files;
  std::string name;
  const auto finish = [&] {
    if (!name.empty() && !name.ends_with(":") && !name.starts_with(cache.string())) files.emplace_back(name);
    name.clear();
  };
  for (size_t i = 0; i < rule.size();) {
    const size_t end = std::min(rule.find_first_not_of('\\', i), rule.size()), slashes = end - i;
    const char next = end < rule.size() ? rule[end] : '\n';
    const bool is_space = next == ' ' || next == '\t', is_quoted = slashes % 2 == 1;
    i = end + 1;
    if (next == '\n') {  // behind the backslash that continues a rule
      finish();
    } else if (is_space) {  // an odd number of backslashes quotes it; each of the name is doubled
      name.append(slashes / 2, '\\');
      is_quoted ? name.push_back(next) : finish();
    } else {
      name.append(slashes - size_t(next == '#' && is_quoted), '\\');
      name.push_back(next);
      if (next == '$' && i < rule.size() && rule[i] == '$') ++i;
    }
  }
  finish();
  return files;
}

// A key of the contents of all files that the object was made of; nothing when one cannot be read.
std::optional<std::string> key_of_contents(const std::vector<fs::path>& files) {
  std::string all;
  for (const fs::path& file : files) {
    const auto text = read_text(file, most_of_ptx);
    if (!text) return std::nullopt;
    all += file.string() + " " + key_of(*text) + "\n";
  }
  return key_of(all);
}

class ObjectCache {
 public:
  // Named by all but contents: compiler, options, headers, the file's place and the name that messages use.
  ObjectCache(fs::path folder, const std::string& identity)
      : folder_(std::move(folder)), key_(key_of(identity)), list_(folder_ / (key_ + ".files")) {}

  std::optional<fs::path> find(const Note& note) const {
    const auto files = read_text(list_, most_of_settings);
    if (!files) return std::nullopt;
    const auto object = object_of(*files);
    const Kept kept = object ? state_of_kept(*object) : Kept::absent;
    if (kept == Kept::damaged) note_damage(kept, *object, note);
    if (kept != Kept::whole) return std::nullopt;
    note_use(list_);
    note_use(*object);
    return object;
  }

  // `rule` lists the files of `compiled`, which is copied unless it is in the cache already. Where one has a
  // name that the compiler writes otherwise (clang and a backslash or a tab), no list is kept: it is compiled
  // each time.
  Outcome<fs::path> keep(const fs::path& compiled, const std::string& rule) const {
    const std::string files =
        fmt::format("{}", fmt::join(files_of_rule(rule, folder_.parent_path()) |
                                        std::views::transform([](const fs::path& p) { return p.string(); }),
                                    "\n"));
    const auto known = object_of(files), object = known ? known : object_of(std::vector{compiled});
    if (!object) return user_error(fmt::format("{} cannot be read", compiled.string()));
    const fs::path unfinished = place();
    const Unfinished removed_when_ended(unfinished);
    std::error_code failed;
    if (compiled != unfinished) fs::copy_file(compiled, unfinished, failed);
    if (!failed) fs::rename(unfinished, *object, failed);
    if (failed) return user_error(fmt::format("{}: {}", object->string(), failed.message()));
    if (const auto sealed = seal(*object); !sealed) return user_error(sealed.error());
    if (!known) return *object;
    if (const auto written = write_text(list_, files); !written) return user_error(written.error());
    return *object;
  }

  // Where an object is complete before it has its name.
  fs::path place() const { return name_aside(folder_ / (key_ + ".so")); }

 private:
  std::optional<fs::path> object_of(const std::string& list) const {
    std::vector<fs::path> files;
    for (const std::string_view file : split(list, "\n")) files.emplace_back(file);
    return object_of(files);
  }
  std::optional<fs::path> object_of(const std::vector<fs::path>& files) const {
    const auto contents = key_of_contents(files);
    if (!contents) return std::nullopt;
    return folder_ / fmt::format("{}-{}.so", key_, *contents);
  }

  fs::path folder_;
  std::string key_;
  fs::path list_;
};

Outcome<fs::path> folder_of_cache(std::string_view name) {
  auto folder = private_cache(name);
  if (!folder)
    return user_error(folder.error(),
                      "compiled kernels are kept there; set XDG_CACHE_HOME to a folder of your own");
  return std::move(*folder);
}

Outcome<fs::path> compile(const fs::path& source, const Compiler& compiler, std::vector<std::string> command,
                          const ObjectCache& cache, const Compilation& settings) {
  const fs::path object = settings.folder.empty() ? cache.place() : settings.folder / "kernel.so";
  const fs::path rule = object.string() + ".d";
  const Unfinished removed_when_ended(rule);
  for (const std::string& word : {std::string("-shared"), std::string("-MMD"), std::string("-MF"),
                                  rule.string(), std::string("-x"), std::string("c++"), source.string()})
    command.push_back(word);
  const Ended ended = run_into(settings.run ? settings.run : run_compiler, command, object);
  std::error_code none;
  if (ended.code != 0) {
    for (const fs::path& file : {object, rule}) fs::remove(file, none);
    if (ended.signal == SIGINT || ended.signal == SIGTERM) return interruption();
    return user_error(fmt::format("{} does not compile ({}{})", source.string(), compiler.name,
                                  ended.output.empty() ? "" : ": " + ended.output));
  }
  const auto files = read_text(rule, most_of_settings);
  fs::remove(rule, none);
  if (!files) return user_error(files.error());
  return cache.keep(object, *files);
}

}  // namespace

Outcome<fs::path> compiled_object(const fs::path& source, const Compilation& settings) {
  if (source.string().find('\n') != std::string::npos)
    return user_error("the name of a file of kernels has a line break", "rename it, or its folder");
  if (const auto text = read_text(source, most_of_settings); !text) return user_error(text.error());
  const auto compiler = find_compiler();
  if (!compiler) return tl::make_unexpected(compiler.error());
  const auto headers = find_headers();
  if (!headers) return tl::make_unexpected(headers.error());
  const auto objects = folder_of_cache("objects"), headers_cache = folder_of_cache("headers");
  if (!objects) return objects;
  if (!headers_cache) return headers_cache;
  std::vector<std::string> command = compile_command(*compiler, *headers);
  const std::string options =
      fmt::format("{}\n{}\n{}", compiler->identity, fmt::join(command, " "), headers->identity);
  const std::string_view by = settings.run ? "by another's run" : "by ours";
  std::error_code none;
  const ObjectCache cache(*objects, fmt::format("{}\n{}\n{}\n{}", options, by, source.string(),
                                                fs::absolute(source, none).string()));
  if (const auto found = cache.find(settings.note)) return *found;
  remove_old(*objects);
  for (std::string& word : precompiled(*compiler, command, options, *headers_cache, settings.note))
    command.push_back(std::move(word));
  return compile(source, *compiler, std::move(command), cache, settings);
}

}  // namespace palladion::kernels
