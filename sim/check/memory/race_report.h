#pragma once
// Makes findings of conflicts: which mistake it is, which edge is missing and why, what to change.
#include "sim/check/core/context.h"
#include "sim/check/core/options.h"
#include "sim/check/memory/races.h"
#include "sim/check/protocol/ledger.h"

namespace palladion::sim::check {

class RaceReporter final : public ConflictSink {
 public:
  RaceReporter(const ClusterContext& context, const HappensBefore& order, const Ledger& ledger,
               const Options& options)
      : context_(context), order_(order), ledger_(ledger), options_(options) {}
  // Whose table the conflicts' records are in.
  void use(const Records& records) { records_ = &records; }

  void conflict(const Actor& later, const Conflict& c) override;
  void uninitialised(const Actor& reader, uint64_t address, uint64_t bytes, Lane lane) override;
  void barrier_bytes(const Actor& origin, uint32_t init_record, uint64_t address, Lane lane) override;
  void fill_read(const Actor& reader, uint32_t writer_record, uint64_t address, Lane lane) override;
  void read_after(const Actor& reader, uint32_t writer_record, uint64_t address) override;

 private:
  const ClusterContext& context_;
  const HappensBefore& order_;
  const Ledger& ledger_;
  const Options& options_;
  const Records* records_ = nullptr;
};

}  // namespace palladion::sim::check
