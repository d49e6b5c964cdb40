// Every public name of both of Pallas' modules: present, or refused by name with a reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "frontend/plgpu.h"
#include "tests/support/golden.h"

namespace palladion::test {
namespace {

// A name that is missing does not compile.
namespace names {
#define PRESENT(module, name, remark) \
  namespace of_##module {             \
    using ::palladion::module::name;  \
  }
#define REFUSED(module, name) PRESENT(module, name, "")
#include "tests/frontend/pallas_names.inc"
#undef PRESENT
#undef REFUSED
}  // namespace names

struct Row {
  std::string module, name, remark;
  const frontend::Refused* refused = nullptr;
  std::string written() const { return module + "::" + name; }
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = {
#define PRESENT(module, name, remark) {#module, #name, remark},
#define REFUSED(module, name) {#module, #name, "", &module::name},
#include "tests/frontend/pallas_names.inc"
#undef PRESENT
#undef REFUSED
  };
  return all;
}

isa::Diagnostic diagnostic_of(const std::function<void()>& use) {
  try {
    use();
  } catch (const isa::Error& e) {
    return e.diagnostics().front();
  }
  ADD_FAILURE() << "no Error";
  return {};
}

TEST(PallasNames, EachOnceAndAll) {
  std::set<std::string> seen;
  std::map<std::string, int> count;
  for (const Row& row : rows()) {
    EXPECT_TRUE(seen.insert(row.written()).second) << row.written();
    ++count[row.module];
  }
  EXPECT_EQ(count["plgpu"], 94);
  EXPECT_EQ(count["pl"], 59);
}

TEST(PallasNames, RefusalsSayWhy) {
  for (const Row& row : rows()) {
    if (row.refused == nullptr) continue;
    EXPECT_EQ(row.written(), row.refused->name());
    EXPECT_FALSE(std::string(row.refused->reason()).empty()) << row.name;
    for (const auto& use :
         std::vector<std::function<void()>>{[&] { (*row.refused)(); }, [&] { (*row.refused)(1, pl::f32); },
                                            [&] { plgpu::Layout layout = *row.refused; }}) {
      const isa::Diagnostic d = diagnostic_of(use);
      EXPECT_EQ(d.code, "PLD2999");
      EXPECT_EQ(d.severity, isa::Severity::unsupported);
      EXPECT_EQ(d.message, row.written() + ": " + row.refused->reason());
      EXPECT_EQ(d.help, row.refused->instead());
    }
  }
}

// At the author's line, from within a kernel.
TEST(PallasNames, RefusalsKnowTheLine) {
  const uint32_t line = __LINE__ + 3;
  const isa::Diagnostic d = diagnostic_of([] {
    plgpu::kernel(
        [](const plgpu::Ref& o) { o.store(plgpu::Array(plgpu::format_tcgen05_sparse_metadata(o))); },
        {.out_type = {pl::f32, {128}}});
  });
  EXPECT_EQ(d.loc.line, line) << isa::render({d});
}

TEST(PallasNames, Page) {
  std::string page =
      "# Pallas' public names, and ours\n\n"
      "Every public name of `jax.experimental.pallas.mosaic_gpu` (plgpu) and `jax.experimental.pallas` (pl), "
      "as of\n"
      "JAX 0.11.1, commit cec06d116c. A name that has no meaning here is refused when it is used: an "
      "`unsupported`\n"
      "Error (PLD2999) with the reason. Written by `tests/frontend/pallas_names_test.cpp`, which compiles "
      "each name.\n\n"
      "| name | here | remark |\n|---|---|---|\n";
  for (const Row& row : rows()) {
    if (row.refused == nullptr) {
      page += fmt::format("| `{}` | present | {} |\n", row.written(), row.remark);
    } else {
      const std::string instead = row.refused->instead();
      page += fmt::format("| `{}` | refused | {}{} |\n", row.written(), row.refused->reason(),
                          instead.empty() ? "" : "; instead: " + instead);
    }
  }
  EXPECT_TRUE(golden::compare("../../frontend/pallas_names.md", page));
}

}  // namespace
}  // namespace palladion::test
