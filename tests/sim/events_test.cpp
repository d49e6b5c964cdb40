// Subscribers to a cluster's events: which are called, and in which order.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "sim/launch/observer.h"

namespace palladion::sim {
namespace {

using ::testing::ElementsAre;

struct Both {
  std::vector<std::string>& log;
  void on(const AsyncLanded& e) { log.push_back("both landed " + std::to_string(e.id)); }
  void on(const AsyncRead& e) { log.push_back("both read " + std::to_string(e.id)); }
};

struct LandedOnly {
  std::vector<std::string>& log;
  void on(const AsyncLanded& e) { log.push_back("landed " + std::to_string(e.id)); }
};

TEST(ClusterEvents, NothingIsWantedWithoutSubscribers) {
  const ClusterEvents events;
  EXPECT_TRUE(events.empty());
  EXPECT_FALSE(events.wanted<AsyncLanded>());
  events.emit(AsyncLanded{1});
}

TEST(ClusterEvents, ASubscriberGetsTheEventsThatItHasAMethodFor) {
  std::vector<std::string> log;
  LandedOnly landed{log};
  ClusterEvents events;
  events.add(landed);
  EXPECT_FALSE(events.empty());
  EXPECT_TRUE(events.wanted<AsyncLanded>());
  EXPECT_FALSE(events.wanted<AsyncRead>());
  events.emit(AsyncRead{1});
  events.emit(AsyncLanded{2});
  EXPECT_THAT(log, ElementsAre("landed 2"));
}

TEST(ClusterEvents, EachEventGoesToItsSubscribersInTheirOrder) {
  std::vector<std::string> log;
  Both both{log};
  LandedOnly landed{log};
  ClusterEvents events;
  events.add(landed);
  events.add(both);
  events.emit(AsyncRead{7});
  events.emit(AsyncLanded{7});
  EXPECT_THAT(log, ElementsAre("both read 7", "landed 7", "both landed 7"));
}

}  // namespace
}  // namespace palladion::sim
