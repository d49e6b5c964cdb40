// Tiles of matmul_ws that leave in an odd number of parts: the next tile begins with the window of shared
// memory that came last.
#include "tests/kernels/run_kernel.h"

namespace palladion::kernels::test {
namespace {

class OddParts : public testing::TestWithParam<Case> {};
TEST_P(OddParts, AreDecidedByOneRun) { expect_decided(GetParam()); }
INSTANTIATE_TEST_SUITE_P(
    MatmulWs, OddParts,
    testing::Values(Case{"matmul_ws",
                         {{"m", "512"}, {"n", "128"}, {"k", "128"}},
                         {{"tile_m", "128"}, {"tile_n", "64"}, {"sms", "1"}}},
                    Case{"matmul_ws",
                         {{"m", "256"}, {"n", "384"}, {"k", "128"}},
                         {{"tile_m", "128"}, {"tile_n", "192"}, {"stages", "3"}, {"sms", "1"}}}),
    name_of_param);

}  // namespace
}  // namespace palladion::kernels::test
