#include "traces/perfetto.h"

namespace palladion::traces {
namespace {

// Field numbers of protos/perfetto/trace of the Perfetto project.
namespace trace {
constexpr uint32_t packet = 1;
}
namespace packet_field {
constexpr uint32_t timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12, sequence_flags = 13,
                   track_descriptor = 60;
}
namespace interned {
constexpr uint32_t categories = 1, event_names = 2, annotation_names = 3, annotation_texts = 29;
constexpr uint32_t number = 1, text = 2;  // of an entry
}  // namespace interned
namespace track_field {
constexpr uint32_t uuid = 1, name = 2, process = 3, parent = 5, child_ordering = 11, order = 12,
                   description = 14;
constexpr uint32_t pid = 1, process_name = 6;  // of a ProcessDescriptor
constexpr uint64_t explicit_order = 3;
}  // namespace track_field
namespace event_field {
constexpr uint32_t category = 3, annotation = 4, type = 9, name = 10, track = 11, flow = 47, last_flow = 48;
constexpr uint64_t slice_begin = 1, slice_end = 2, instant = 3;
constexpr uint32_t annotation_name = 1, annotation_number = 3, annotation_text = 17;
}  // namespace event_field

constexpr uint64_t sequence = 1;       // all packets are in one sequence
constexpr uint64_t state_cleared = 1;  // sequence_flags: numbers of names start here,
constexpr uint64_t needs_state = 2;    // or were defined before

}  // namespace

PerfettoSink::PerfettoSink(std::unique_ptr<BoundedFile> file, Header header)
    : FileSink(std::move(file)), header_(std::move(header)) {
  event_names_.field = interned::event_names;
  categories_.field = interned::categories;
  arg_names_.field = interned::annotation_names;
  arg_texts_.field = interned::annotation_texts;
}

uint64_t PerfettoSink::number_of(Names& names, std::string_view text) {
  const auto [at, added] = names.numbers.try_emplace(std::string(text), names.numbers.size() + 1);
  if (added) {
    Message entry;
    entry.integer(interned::number, at->second).text(interned::text, text);
    added_.message(names.field, entry);
  }
  return at->second;
}

bool PerfettoSink::add(const Track& track) {
  Message t;
  t.integer(track_field::uuid, track.id).integer(track_field::child_ordering, track_field::explicit_order);
  if (track.kind == TrackKind::process) {
    Message process;
    process.integer(track_field::pid, static_cast<uint64_t>(track.order))
        .text(track_field::process_name, track.name);
    t.message(track_field::process, process).text(track_field::description, header_.title);
  } else {
    t.text(track_field::name, track.name)
        .integer(track_field::parent, track.parent)
        .integer(track_field::order, static_cast<uint64_t>(track.order));
  }
  Message packet;
  packet.integer(packet_field::sequence_id, sequence).message(packet_field::track_descriptor, t);
  return file_->write(Message().message(trace::packet, packet).bytes());
}

void PerfettoSink::add_args(Message& event, const std::vector<Arg>& args) {
  for (const Arg& arg : args) {
    Message annotation;
    annotation.integer(event_field::annotation_name, number_of(arg_names_, arg.key));
    if (const auto* number = std::get_if<uint64_t>(&arg.value))
      annotation.integer(event_field::annotation_number, *number);
    else
      annotation.integer(event_field::annotation_text,
                         number_of(arg_texts_, std::get<std::string_view>(arg.value)));
    event.message(event_field::annotation, annotation);
  }
}

Message PerfettoSink::begin(const Event& e) {
  Message event;
  event.integer(event_field::type, e.instant ? event_field::instant : event_field::slice_begin)
      .integer(event_field::track, e.track)
      .integer(event_field::category, number_of(categories_, traces::name(e.category)))
      .integer(event_field::name, number_of(event_names_, e.name));
  add_args(event, e.args);
  for (const uint64_t flow : e.flows) event.fixed64(event_field::flow, flow);
  for (const uint64_t flow : e.ends) event.fixed64(event_field::last_flow, flow);
  return event;
}

void PerfettoSink::packet(std::string& out, uint64_t time, const Message& event) {
  Message p;
  p.integer(packet_field::timestamp, time).integer(packet_field::sequence_id, sequence);
  p.integer(packet_field::sequence_flags, first_ ? state_cleared | needs_state : needs_state);
  if (!added_.empty()) p.message(packet_field::interned_data, added_);
  p.message(packet_field::track_event, event);
  added_.clear();
  first_ = false;
  out += Message().message(trace::packet, p).bytes();
}

// Both ends of a slice are one record, so that a trace that ends early has no open ones.
bool PerfettoSink::add(const Event& e) {
  std::string record;
  packet(record, e.from, begin(e));
  if (!e.instant) {
    Message end;
    end.integer(event_field::type, event_field::slice_end).integer(event_field::track, e.track);
    packet(record, e.to, end);
  }
  return file_->write(record);
}

void PerfettoSink::finish(const std::string& note, uint64_t at) {
  if (!note.empty()) {
    const Event end{.track = track_id("sim"), .from = at, .to = at, .instant = true, .name = note};
    std::string record;
    packet(record, at, begin(end));
    file_->write(record, true);
  }
  file_->flush();
}

}  // namespace palladion::traces
