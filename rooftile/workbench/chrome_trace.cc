// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/chrome_trace.h"

#include <set>

#include "rooftile/base/json.h"

namespace rooftile {
namespace {

constexpr int kProcess = 1;
constexpr int kPassTrack = 1;
constexpr int kFirstThreadTrack = 2;

Json named(const char* what, int track, const std::string& name) {
  return {
      {"ph", "M"}, {"name", what}, {"pid", kProcess}, {"tid", track}, {"args", {{"name", name}}}};
}

Json sorted_at(int track) {
  return {{"ph", "M"},
          {"name", "thread_sort_index"},
          {"pid", kProcess},
          {"tid", track},
          {"args", {{"sort_index", track}}}};
}

Json complete(const std::string& name, const std::string& category, int track, double start_us,
              double end_us, Json args) {
  return {{"ph", "X"},    {"name", name},   {"cat", category},          {"pid", kProcess},
          {"tid", track}, {"ts", start_us}, {"dur", end_us - start_us}, {"args", std::move(args)}};
}

Json args_of(const TimelineEvent& event) {
  Json args{{"problem", event.problem},
            {"kernel", event.kernel},
            {"pass", event.pass},
            {"bytes_read", event.cost.bytes_read},
            {"bytes_written", event.cost.bytes_written},
            {"operations", event.cost.total_ops()}};
  if (event.layer >= 0) args["layer"] = event.layer;
  // Bytes a microsecond are megabytes a second.
  const double time_us = event.end_us - event.start_us;
  if (time_us > 0 && event.cost.bytes() > 0) args["GB/s"] = event.cost.bytes() / time_us / 1e3;
  if (time_us > 0 && event.cost.total_ops() > 0)
    args["GFLOP/s"] = event.cost.total_ops() / time_us / 1e3;
  if (!event.is_proven) args["proven"] = false;
  return args;
}

void append(std::string& text, const Json& event) {
  text += (text.ends_with("[\n") ? "" : ",\n") +
          event.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

// One line an event, appended as text: a long request has millions of them.
std::string chrome_trace(const ProfiledModel& model, const Timeline& timeline,
                         const std::string& device) {
  const Json about{{"model", model.name},
                   {"synthetic", model.is_synthetic},
                   {"device", device},
                   {"command", model.command}};
  std::string text = "{\"displayTimeUnit\": \"ns\", \"otherData\": " +
                     about.dump(-1, ' ', false, Json::error_handler_t::replace) +
                     ",\n\"traceEvents\": [\n";
  append(text,
         named("process_name", kPassTrack,
               model.name + (model.is_synthetic ? " (synthetic weights)" : "") + " on " + device));
  append(text, named("thread_name", kPassTrack, "passes"));
  append(text, sorted_at(kPassTrack));
  std::set<int> threads;
  for (const TimelineEvent& event : timeline.events) threads.insert(event.thread);
  for (const int thread : threads) {
    append(text,
           named("thread_name", kFirstThreadTrack + thread, "thread " + std::to_string(thread)));
    append(text, sorted_at(kFirstThreadTrack + thread));
  }
  for (std::size_t i = 0; i < timeline.passes.size(); ++i) {
    const TimelinePass& pass = timeline.passes[i];
    append(text, complete(pass.phase, "pass", kPassTrack, pass.start_us, pass.end_us,
                          {{"pass", i}, {"tokens", pass.tokens}}));
  }
  for (const TimelineEvent& event : timeline.events)
    append(text, complete(event.role.empty() ? event.kernel : event.role, event.op,
                          kFirstThreadTrack + event.thread, event.start_us, event.end_us,
                          args_of(event)));
  return text + "\n]}\n";
}

}  // namespace rooftile
