// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/strict_json.h"

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr int kMostDepth = 32;

// Called by the parser for every object, array, key and value.
class Watcher {
 public:
  explicit Watcher(std::string name) : name_(std::move(name)) {}

  bool operator()(int depth, StrictJson::parse_event_t event, StrictJson& value) {
    using Event = StrictJson::parse_event_t;
    if (depth > kMostDepth)
      fail_input(name_ + ": nested deeper than " + std::to_string(kMostDepth));
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end) keys_.pop_back();
    if (event == Event::key && !keys_.back().insert(value.get<std::string>()).second)
      fail_input(name_ + ": the key '" + value.get<std::string>() + "' stands twice in an object");
    return true;
  }

 private:
  std::string name_;
  std::vector<std::set<std::string>> keys_{};  // of the objects that are open
};

}  // namespace

StrictJson parse_strict_json(std::string_view text, const std::string& name) {
  Watcher watcher(name);
  try {
    return StrictJson::parse(text.begin(), text.end(), std::ref(watcher));
  } catch (const StrictJson::exception& error) {
    fail_input(name + ": " + error.what());
  }
}

}  // namespace rooftile
