#include "report/explain/topics.h"

#include <gmock/gmock.h>

#include "kernels/frame/registry.h"
#include "report/explain/op_text.h"
#include "report/explain/paragraph.h"
#include "report/explain/subject_text.h"

namespace palladion::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Topics, TextIsWrapped) {
  std::string text;
  for (int i = 0; i < 60; ++i) text += "word ";
  const std::string lines = wrapped(text, "    ");
  for (size_t at = 0; at < lines.size();) {
    const size_t end = lines.find('\n', at);
    ASSERT_NE(end, std::string::npos) << "whole lines";
    EXPECT_LE(end - at, 100U);
    EXPECT_EQ(lines.substr(at, 8), "    word");
    at = end + 1;
  }
  EXPECT_EQ(labelled("wrong", "a\nb"), "  wrong  a\n         b\n");
  EXPECT_EQ(labelled_part("rule", ""), "");
}

TEST(Topics, AnOperationIsFoundByItsFirstWord) {
  for (const isa::Op& op : isa::all_ops()) {
    EXPECT_EQ(op_of(op.name), &op);
    EXPECT_EQ(op_of(std::string(op.name) + ".sync.aligned"), &op);
  }
  EXPECT_EQ(op_of("nothing.of.the.kind"), nullptr);
}

TEST(Topics, ModifiersChooseForms) {
  const std::string all = op_text(*op_of("ld"), "ld"), shared = op_text(*op_of("ld"), "ld.shared");
  EXPECT_LE(shared.size(), all.size());
  EXPECT_THAT(shared, HasSubstr("shared"));
  EXPECT_EQ(op_text(*op_of("ld"), "ld.nothing"), all) << "no form has it";
}

TEST(Topics, ACodeHasItsMeaningAndItsTwins) {
  const std::string text = code_text(*find_code(4309), "program");
  EXPECT_THAT(text, HasSubstr("PLD4309"));
  EXPECT_THAT(text, HasSubstr("program check zoo/async-store-no-proxy-fence"));
}

TEST(Topics, AKernelHasItsSizesAndSettings) {
  for (const kernels::KernelSpec& spec : kernels::all_kernels()) {
    const std::string text = kernel_text(spec, false);
    for (const kernels::SizeParam& size : spec.sizes) EXPECT_THAT(text, HasSubstr("--shape " + size.name));
    EXPECT_EQ(kernel_json(spec).at("settings").as_array().size(), spec.settings.size());
  }
  EXPECT_THAT(arch_text(*isa::find_arch("h200"), false), Not(HasSubstr("no parameters")));
}

}  // namespace
}  // namespace palladion::report
