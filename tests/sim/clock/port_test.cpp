// The way into an SM.
#include "sim/clock/memory/port.h"

#include <gtest/gtest.h>

namespace palladion::sim::hardware {
namespace {

TEST(Port, GivesItsRate) {
  Port port;
  double last = 0;
  for (int i = 0; i < 1000; ++i) last = port.take(0, 1.25);
  EXPECT_NEAR(last, 1250, 8);
}

TEST(Port, AnAnswerThatComesLateDoesNotHoldUpOthers) {
  Port port;
  EXPECT_DOUBLE_EQ(port.take(100, 1), 100);
  EXPECT_LT(port.take(20, 1), 30);
}

TEST(Port, NoRequestWaitsForWhatIsOver) {
  Port port;
  for (int i = 0; i < 100; ++i) port.take(0, 1);
  EXPECT_DOUBLE_EQ(port.take(5000, 1), 5000);
  EXPECT_DOUBLE_EQ(port.take(100000, 1), 100000);
}

TEST(Port, TakesTheFirstRoomThatThereIs) {
  Port port;
  for (int i = 0; i < 8; ++i) port.take(16, 1);  // a step
  EXPECT_GE(port.take(16, 1), 24);
  EXPECT_LT(port.take(0, 1), 16);
}

}  // namespace
}  // namespace palladion::sim::hardware
