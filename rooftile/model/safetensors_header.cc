// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/safetensors_header.h"

#include <set>
#include <utility>

#include "nlohmann/json.hpp"
#include "rooftile/base/error.h"
#include "rooftile/core/shape.h"

namespace rooftile {
namespace {

using Json = nlohmann::json;

// The parser's events. Every handler refuses what the format does not have at its place.
class Handler {
 public:
  explicit Handler(const std::string& file) : file_(file) {}

  std::vector<SafetensorsEntry> entries{};

  bool start_object(std::size_t /*count*/) {
    if (depth_ == 2 || is_in_array_) refuse("an object");
    if (++depth_ == 2) fields_.clear();
    return true;
  }
  bool end_object() {
    if (depth_-- == 2 && !is_metadata_ && fields_.size() != 3)
      fail("needs dtype, shape and data_offsets");
    return true;
  }
  bool key(std::string& text) {
    if (depth_ == 1) return start_entry(text);
    if (!fields_.insert(text).second) fail("has the key '" + text + "' twice");
    if (!is_metadata_ && text != "dtype" && text != "shape" && text != "data_offsets")
      fail("has the unknown key '" + text + "'");
    field_ = text;
    return true;
  }
  bool string(std::string& text) {
    if (depth_ != 2 || is_in_array_ || (!is_metadata_ && field_ != "dtype")) refuse("a string");
    if (!is_metadata_) entries.back().dtype = text;
    return true;
  }
  bool start_array(std::size_t /*count*/) {
    if (depth_ != 2 || is_in_array_ || is_metadata_ || field_ == "dtype") refuse("an array");
    is_in_array_ = true;
    return true;
  }
  bool end_array() {
    is_in_array_ = false;
    return true;
  }
  bool number_unsigned(std::uint64_t number) {
    if (!is_in_array_) refuse("a number");
    const bool is_shape = field_ == "shape";
    auto& list = is_shape ? entries.back().shape : entries.back().offsets;
    if (list.size() == (is_shape ? std::size_t{kMaxRank} : 2U))
      fail(is_shape ? "has more than 8 dimensions" : "needs two data_offsets");
    list.push_back(number);
    return true;
  }
  bool number_integer(std::int64_t number) { refuse(std::to_string(number).c_str()); }
  bool number_float(double /*number*/, const std::string& text) { refuse(text.c_str()); }
  bool null() { refuse("null"); }
  bool boolean(bool /*value*/) { refuse("a boolean"); }
  bool binary(Json::binary_t& /*value*/) { refuse("bytes"); }
  bool parse_error(std::size_t position, const std::string& /*token*/,
                   const Json::exception& error) {
    fail_input(file_ + ": the header is no JSON at its byte " + std::to_string(position) + ": " +
               error.what());
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    fail_input(file_ + ": tensor '" + name_ + "' " + message);
  }
  [[noreturn]] void refuse(const char* what) const {
    if (depth_ < 2) fail_input(file_ + ": the header has " + what + " where a tensor is expected");
    fail("has " + std::string(what) + " as " + field_);
  }
  bool start_entry(const std::string& name) {
    if (!names_.insert(name).second) fail_input(file_ + ": two tensors are named '" + name + "'");
    name_ = name;
    is_metadata_ = name == "__metadata__";
    if (!is_metadata_) entries.push_back({.name = name});
    return true;
  }

  const std::string& file_;
  std::set<std::string> names_{};
  std::set<std::string> fields_{};
  std::string name_{};
  std::string field_{};
  int depth_ = 0;
  bool is_in_array_ = false;
  bool is_metadata_ = false;
};

}  // namespace

std::vector<SafetensorsEntry> read_safetensors_header(std::string_view text,
                                                      const std::string& file) {
  Handler handler(file);
  (void)Json::sax_parse(text.begin(), text.end(), &handler);
  return std::move(handler.entries);
}

}  // namespace rooftile
