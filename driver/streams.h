#pragma once
// Streams and the graphs that are captured from them.
#include <functional>
#include <memory>
#include <vector>

#include "driver/state.h"

namespace palladion::driver {

enum class NodeKind : int {
  kernel = 0,
  memcpy = 1,
  memset = 2,
  host = 3,
  graph = 4,
  empty = 5,
  wait = 6,
  record = 7
};

struct Graph;
struct Work {
  NodeKind kind = NodeKind::empty;
  std::function<Status()> run;
  std::shared_ptr<LaunchWork> launch;  // of a kernel
};
struct Node {
  Graph* graph = nullptr;
  Work work;
  std::vector<Node*> after;  // what it depends on
  bool enabled = true;
  const Node* origin = nullptr;  // of a node of a clone
  std::shared_ptr<Graph> child;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};

struct Capture {
  Graph* graph = nullptr;
  uint64_t id = 0;
  struct Stream* first = nullptr;
  std::vector<struct Stream*> streams;
};
struct Stream {
  unsigned flags = 0;
  int priority = 0;
  uint64_t id = 0;
  std::shared_ptr<Capture> capture;
  std::vector<Node*> last;  // while captured: what the next node depends on
};
struct Event {
  unsigned flags = 0;
  bool recorded = false;
  double us = 0;  // the device's time, or the host's
  std::shared_ptr<Capture> capture;
  std::vector<Node*> last;
};

// The object behind a handle: null, 1 and 2 are default streams.
Stream& stream_of(Stream* handle);
bool capturing(Stream* handle);
// Does it, or keeps it in the graph when the stream is captured.
Status enqueue(Stream* handle, Work work);
Status run_graph(Graph& graph);
double now_us();

}  // namespace palladion::driver
