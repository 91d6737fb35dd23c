// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/profile_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <type_traits>

#include "rooftile/base/error.h"
#include "rooftile/base/json.h"
#include "rooftile/base/text.h"
#include "rooftile/workbench/profile_fields.h"

namespace rooftile {
namespace {

template <class T>
using PerUnit = std::array<std::optional<T>, kNumUnits>;

struct Writer {
  Json* json;

  static Json value(const std::string& text) { return text; }
  static Json value(bool is_so) { return is_so; }
  static Json value(std::int64_t number) { return number; }
  static Json value(double number) { return number; }
  template <class T>
  static Json value(const std::vector<T>& list) {
    Json array = Json::array();
    for (const T& item : list) array.push_back(value(item));
    return array;
  }
  template <class T>
  static Json value(const PerUnit<T>& units) {
    Json object = Json::object();
    for (std::size_t unit = 0; unit < units.size(); ++unit)
      if (units[unit]) object[std::string(name(static_cast<Unit>(unit)))] = value(*units[unit]);
    return object;
  }
  template <class T>
    requires std::is_aggregate_v<T>
  static Json value(const T& fields) {
    Json object = Json::object();
    Writer writer{&object};
    visit_fields(fields, writer);
    return object;
  }

  template <class T>
  void operator()(const char* key, const T& field) const {
    (*json)[key] = value(field);
  }
  void operator()(const char* key, const std::string& text) const {
    if (!text.empty()) (*json)[key] = text;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& field) const {
    if (field) (*json)[key] = value(*field);
  }
  template <class T>
  void any(const char* key, const T& field) const {
    (*this)(key, field);
  }
};

class Reader {
 public:
  Reader(const Json& json, std::string path) : json_(&json), path_(std::move(path)) {
    if (!json.is_object()) fail("an object");
  }

  template <class T>
  void operator()(const char* key, T& field) {
    at(key).read(field, 0);
  }
  void operator()(const char* key, std::string& text) {  // an empty one is absent
    if (json_->contains(key)) at(key).read(text, 0);
  }
  template <class T>
  void operator()(const char* key, std::optional<T>& field) {
    if (json_->contains(key)) at(key).read(field.emplace(), 0);
  }
  template <class T>
  void any(const char* key, T& field) {
    at(key).read(field, -kMost);
  }
  template <class T>
  void any(const char* key, std::optional<T>& field) {
    if (json_->contains(key)) at(key).read(field.emplace(), -kMost);
  }

 private:
  // Figures beyond these are not of this world; within them no sum or product overflows.
  static constexpr double kMost = 1e25;
  static constexpr std::size_t kLongestText = 1 << 16;

  struct Field {
    const Json& json;
    std::string path;

    [[noreturn]] void fail(const std::string& needed) const {
      fail_input(path + " is " +
                 json.dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 60) +
                 "; it must be " + needed);
    }
    void read(std::string& text, double) const {
      if (!json.is_string() || json.get_ref<const std::string&>().size() > kLongestText)
        fail("text of at most " + std::to_string(kLongestText) + " bytes");
      text = json.get<std::string>();
    }
    void read(bool& is_so, double) const {
      if (!json.is_boolean()) fail("true or false");
      is_so = json.get<bool>();
    }
    void read(double& number, double least) const {
      if (!json.is_number() || !(json.get<double>() >= least) || !(json.get<double>() <= kMost))
        fail(range("a number", least));
      number = json.get<double>();
    }
    void read(std::int64_t& number, double least) const {
      // An unsigned number that does not fit would come out negative.
      if (!json.is_number_integer() || !(json.get<double>() >= least) ||
          !(json.get<double>() <= 9e18))
        fail(range("an integer", least));
      number = json.get<std::int64_t>();
    }
    template <class T>
    void read(std::vector<T>& list, double) const {
      if (!json.is_array()) fail("a list");
      std::size_t index = 0;
      for (const Json& item : json)
        Field{item, path + "[" + std::to_string(index++) + "]"}.read(list.emplace_back(), 0);
    }
    template <class T>
    void read(PerUnit<T>& units, double) const {
      if (!json.is_object()) fail("an object");
      for (const auto& [key, item] : json.items()) {
        std::size_t unit = 0;
        while (unit < units.size() && name(static_cast<Unit>(unit)) != key) ++unit;
        if (unit == units.size()) fail("an object whose keys are units, as fp32");
        Field{item, path + "." + key}.read(units[unit].emplace(), 0);
      }
    }
    template <class T>
      requires std::is_aggregate_v<T>
    void read(T& fields, double) const {
      Reader reader(json, path);
      visit_fields(fields, reader);
    }
    static std::string range(const std::string& what, double least) {
      return what + (least < 0 ? " of a size that can be measured" : ", at least 0");
    }
  };

  [[noreturn]] void fail(const std::string& needed) const { Field{*json_, path_}.fail(needed); }
  [[nodiscard]] Field at(const char* key) const {
    if (!json_->contains(key)) fail_input(path_ + " lacks '" + std::string(key) + "'");
    return {(*json_)[key], path_ + "." + key};
  }

  const Json* json_;
  std::string path_;
};

// What the fields' types cannot say.
void check(const Profile& profile) {
  std::vector<std::string> names;
  for (const ProfilePhase& phase : profile.phases) {
    if (phase.name != "prefill" && phase.name != "decode")
      fail_input("a phase is named '" + phase.name + "'; prefill or decode");
    if (std::ranges::find(names, phase.name) != names.end())
      fail_input("the phase " + phase.name + " is there twice");
    if (phase.passes < 1) fail_input("the phase " + phase.name + " has no passes");
    names.push_back(phase.name);
  }
  const auto check_phase = [&](const std::string& phase, const char* where) {
    if (std::ranges::find(names, phase) == names.end())
      fail_input(std::string(where) + " is of the phase '" + phase + "', which is not there");
  };
  for (const FusionRow& row : profile.fusion) check_phase(row.phase, "a row of fusion");
  for (const Advice& advice : profile.advice)
    if (!advice.phase.empty()) check_phase(advice.phase, "a piece of advice");
}

}  // namespace

std::string profile_json(const Profile& profile) {
  const Json file{{"schema", kProfileSchema}, {"profile", Writer::value(profile)}};
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Profile profile_from_json(const std::string& text, const std::string& what) {
  try {
    const Json file = parse_json(text);
    if (!file.is_object() || !file.contains("profile")) fail_input("it has no 'profile'");
    if (!file.contains("schema") || file["schema"] != kProfileSchema)
      fail_input("schema " + file.value("schema", Json(0)).dump() + ", this program reads " +
                 std::to_string(kProfileSchema));
    Profile profile;
    Reader reader(file["profile"], "profile");
    visit_fields(profile, reader);
    check(profile);
    return profile;
  } catch (const std::exception& error) {
    fail_input("'" + what + "' is not a profile: " + error.what());
  }
}

}  // namespace rooftile
