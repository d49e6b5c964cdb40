// Contexts that end.
#include "tests/cuda/driver/library.h"

namespace {

using namespace palladion::cuda::driver;

TEST_F(Driver, AContextThatWasDestroyedBelowAnotherOneIsSaidToBe) {
  void *below = nullptr, *above = nullptr, *popped = nullptr;
  ASSERT_EQ(call("cuCtxCreate_v2", &below, 5U, 0), success);
  ASSERT_EQ(call("cuCtxCreate_v2", &above, 1U, 0), success);
  ASSERT_EQ(call("cuCtxDestroy_v2", below), success);
  uint32_t flags = 0;
  EXPECT_EQ(call("cuCtxGetFlags", &flags), success);
  EXPECT_EQ(flags, 1U);
  ASSERT_EQ(call("cuCtxDestroy_v2", above), success) << "it is current, and popped";
  ASSERT_EQ(call("cuCtxGetCurrent", &popped), success);
  EXPECT_EQ(popped, below);
  int value = 0;
  uint64_t memory = 0, id = 0;
  void* stream = nullptr;
  for (const int status :
       {call("cuCtxGetFlags", &flags), call("cuCtxSetFlags", 0U), call("cuCtxGetDevice", &value),
        call("cuCtxGetCacheConfig", &value), call("cuCtxSetCacheConfig", 0), call("cuCtxGetId", nullptr, &id),
        call("cuCtxSynchronize"), call("cuMemAlloc_v2", &memory, size_t{16}),
        call("cuStreamCreate", &stream, 0U)})
    EXPECT_EQ(status, context_is_destroyed);
  EXPECT_EQ(call("cuCtxSetCurrent", below), invalid_context);
  EXPECT_EQ(call("cuCtxDestroy_v2", below), invalid_context);
  EXPECT_EQ(call("cuCtxPopCurrent_v2", &popped), success);
  EXPECT_EQ(call("cuMemAlloc_v2", &memory, size_t{16}), success);
  EXPECT_EQ(call("cuMemFree_v2", memory), success);
}

}  // namespace
