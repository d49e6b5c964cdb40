#include "kernels/frame/case.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "isa/core/whole_error.h"
#include "verify/arrays/codes.h"

namespace palladion::kernels {

Case parse_case(std::string_view line) {
  Case c;
  c.text = line;
  std::istringstream words{std::string(line)};
  std::string name, word;
  words >> name;
  c.spec = find_kernel(name);
  std::map<std::string, std::string> sizes, settings;
  while (words >> word) {
    const size_t equals = word.find('=');
    const std::string key = word.substr(0, equals),
                      value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (key == "seed") {
      c.seed = std::stoull(value);
      continue;
    }
    const bool is_size =
        c.spec != nullptr && std::ranges::find(c.spec->sizes, key, &SizeParam::name) != c.spec->sizes.end();
    (is_size ? sizes : settings)[key] = value;
  }
  if (c.spec == nullptr) {
    isa::Diagnostic d;
    d.code = LaunchCode::bad_tensor_map;
    d.message = fmt::format("no kernel is called `{}`", name);
    throw isa::WholeError(std::move(d));
  }
  c.choice = choose(*c.spec, sizes, settings);
  return c;
}

std::vector<Case> read_cases(const std::string& path) {
  std::vector<Case> cases;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") != std::string::npos) cases.push_back(parse_case(line));
  }
  return cases;
}

}  // namespace palladion::kernels
