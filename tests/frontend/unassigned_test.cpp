// Values that hold nothing, and arrays that no thread can hold, are refused while recording.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "frontend/plgpu.h"

namespace palladion::plgpu {
namespace {

std::string refusal(const std::function<void(const Ref&)>& body, int64_t n = 1024) {
  try {
    kernel([&](const Ref& out) { body(out); }, {.out_type = Types(pl::f32, {n})});
  } catch (const isa::Error& e) {
    return e.diagnostics().front().message;
  }
  return "recorded";
}

TEST(Unassigned, ArraysAndReferencesThatHoldNothingAreRefused) {
  EXPECT_EQ(refusal([](const Ref& out) { out.store(Array()); }), "an Array that was never assigned is used");
  EXPECT_EQ(refusal([](const Ref& out) { out.store(Array() + 1.0F); }),
            "an Array that was never assigned is used");
  EXPECT_EQ(refusal([](const Ref&) { Ref().load(); }), "a reference that was never given is used");
}

TEST(Unassigned, AnArrayOfMoreRegistersThanAThreadHasIsRefused) {
  const std::string message = refusal([](const Ref& out) { out.store(out.load() * 2.0F); }, 1 << 16);
  EXPECT_NE(message.find("takes 512 registers in each lane: a thread has 255"), std::string::npos) << message;
}

}  // namespace
}  // namespace palladion::plgpu
