// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/record.h"

#include <array>
#include <cmath>
#include <ctime>
#include <initializer_list>

#include "rooftile/base/error.h"
#include "rooftile/base/json.h"

namespace rooftile {
namespace {

constexpr std::array<std::string_view, 3> kOrigins{"measured", "simulated", "predicted"};
constexpr std::array<std::string_view, 4> kStatuses{"passed", "failed", "invalid", "unsupported"};

// One visitor lists the fields of each struct; writing and reading are two visitors over it.
template <class Q, class Visit>
void visit_quantiles(Q& q, Visit visit) {
  visit("median", q.median);
  visit("p10", q.p10);
  visit("p90", q.p90);
  visit("n", q.n);
}

template <class L, class Visit>
void visit_line(L& l, Visit visit) {
  visit("place", l.place);
  visit("access", l.access);
  visit("counts", l.counts);
  visit("remark", l.remark);
}

template <class L, class Visit>
void visit_launch(L& l, Visit visit) {
  visit("kernel", l.kernel);
  visit("shape", l.shape);
  visit("registers", l.registers);
  visit("blocks_per_sm", l.blocks_per_sm);
  visit("occupancy", l.occupancy);
  visit("counters", l.counters);
  visit("simulated_s", l.simulated_s);
  visit("predicted_us", l.predicted_us);
  visit("terms_us", l.terms_us);
  visit("binds", l.binds);
  visit("why", l.why);
  visit("lines", l.lines);
}

template <class R, class Visit>
void visit_record(R& r, Visit visit) {
  visit("op", r.op);
  visit("kernel", r.kernel);
  visit("problem", r.problem);
  visit("device", r.device);
  visit("device_name", r.device_name);
  visit("origin", r.origin);
  visit("status", r.status);
  visit("reason", r.reason);
  visit("max_abs_error", r.max_abs_error);
  visit("max_rel_error", r.max_rel_error);
  visit("max_ulps", r.max_ulps);
  visit("max_of_bound", r.max_of_bound);
  visit("time_us", r.time_us);
  visit("against", r.against);
  visit("probe", r.probe);
  visit("tflops", r.tflops);
  visit("gbytes_per_s", r.gbytes_per_s);
  visit("intensity", r.intensity);
  visit("bound", r.bound);
  visit("attainable", r.attainable);
  visit("percent_of_roof", r.percent_of_roof);
  visit("predicted_us", r.predicted_us);
  visit("predicted_error", r.predicted_error);
  visit("launches", r.launches);
  visit("clocks_mhz", r.clocks_mhz);
  visit("power_w", r.power_w);
  visit("temperature_c", r.temperature_c);
  visit("mode", r.mode);
  visit("data", r.data);
  visit("config", r.config);
  visit("code_hash", r.code_hash);
  visit("commit", r.commit);
  visit("command", r.command);
  visit("date", r.date);
}

struct Writer {
  Json* json;
  void operator()(const char* key, const std::string& value) const {
    if (!value.empty()) (*json)[key] = value;
  }
  void operator()(const char* key, double value) const {
    if (std::isfinite(value)) (*json)[key] = value;
  }
  void operator()(const char* key, std::int64_t value) const { (*json)[key] = value; }
  void operator()(const char* key, Origin value) const { (*json)[key] = name(value); }
  void operator()(const char* key, Status value) const { (*json)[key] = name(value); }
  void operator()(const char* key, const Quantiles& value) const {
    Json object = Json::object();
    visit_quantiles(value, Writer{&object});
    (*json)[key] = object;
  }
  void operator()(const char* key, const Figures& value) const {
    Json object = Json::object();
    for (const auto& [name, figure] : value) object[name] = figure;
    (*json)[key] = object;
  }
  void operator()(const char* key, const std::vector<LineRecord>& value) const {
    Json list = Json::array();
    for (const LineRecord& line : value)
      visit_line(line, Writer{&list.emplace_back(Json::object())});
    (*json)[key] = list;
  }
  void operator()(const char* key, const std::vector<LaunchRecord>& value) const {
    if (value.empty()) return;
    Json list = Json::array();
    for (const LaunchRecord& launch : value)
      visit_launch(launch, Writer{&list.emplace_back(Json::object())});
    (*json)[key] = list;
  }
  void operator()(const char* key, const Against& value) const {
    Json object = Json::object();
    const Writer write{&object};
    write("kernel", value.kernel);
    write("time_us", value.time_us);
    write("ratio", value.ratio);
    write("verdict", value.verdict);
    (*json)[key] = object;
  }
  template <class T>
  void operator()(const char* key, const std::optional<T>& value) const {
    if (value) (*this)(key, *value);
  }
};

struct Reader {
  const Json* json;
  template <std::size_t N, class E>
  static void read_enum(const Json& field, const std::array<std::string_view, N>& names, E& value) {
    const auto text = field.get<std::string>();
    for (std::size_t i = 0; i < N; ++i) {
      if (names[i] != text) continue;
      value = static_cast<E>(i);
      return;
    }
    fail_input(unknown_name("value", text, {names.begin(), names.end()}));
  }
  static void read(const Json& field, std::string& value) { value = field.get<std::string>(); }
  static void read(const Json& field, double& value) { value = field.get<double>(); }
  static void read(const Json& field, std::int64_t& value) {
    // An unsigned number that does not fit would come out negative.
    if (!field.is_number_integer() || !(field.get<double>() <= 9e18))
      fail_input(field.dump().substr(0, 80) + " is no whole number of at most 9e18");
    value = field.get<std::int64_t>();
  }
  static void read(const Json& field, Origin& value) { read_enum(field, kOrigins, value); }
  static void read(const Json& field, Status& value) { read_enum(field, kStatuses, value); }
  // Half a figure is not read as zeros.
  static void require(const Json& object, std::initializer_list<const char*> keys) {
    for (const char* key : keys)
      if (!object.contains(key)) fail_input(object.dump().substr(0, 80) + " lacks '" + key + "'");
  }
  static void read(const Json& field, Quantiles& value) {
    require(field, {"median", "p10", "p90", "n"});
    visit_quantiles(value, Reader{&field});
  }
  static void read(const Json& field, Against& value) {
    require(field, {"kernel", "time_us", "ratio", "verdict"});
    const Reader reader{&field};
    reader("kernel", value.kernel);
    reader("time_us", value.time_us);
    reader("ratio", value.ratio);
    reader("verdict", value.verdict);
  }
  static void read(const Json& field, Figures& value) {
    for (const auto& [name, figure] : field.items()) value.emplace_back(name, figure.get<double>());
  }
  static void read(const Json& field, std::vector<LineRecord>& value) {
    for (const Json& line : field) {
      require(line, {"place", "access", "counts"});
      visit_line(value.emplace_back(), Reader{&line});
    }
  }
  static void read(const Json& field, std::vector<LaunchRecord>& value) {
    for (const Json& launch : field) {
      require(launch, {"kernel", "shape", "counters"});
      visit_launch(value.emplace_back(), Reader{&launch});
    }
  }
  template <class T>
  static void read(const Json& field, std::optional<T>& value) {
    read(field, value.emplace());
  }
  template <class T>
  void operator()(const char* key, T& value) const {
    if (json->contains(key)) read((*json)[key], value);
  }
};

}  // namespace

std::string_view name(Origin origin) { return kOrigins.at(static_cast<std::size_t>(origin)); }
std::string_view name(Status status) { return kStatuses.at(static_cast<std::size_t>(status)); }

std::string to_json(const std::string& device, const std::vector<Record>& records) {
  Json list = Json::array();
  for (const Record& record : records) {
    Json object = Json::object();
    object["schema"] = kRecordSchema;
    visit_record(record, Writer{&object});
    list.push_back(std::move(object));
  }
  const Json file{{"schema", kRecordSchema}, {"device", device}, {"records", std::move(list)}};
  return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<Record> records_from_json(const std::string& text, const std::string& what) {
  try {
    const Json file = parse_json(text);
    if (!file.is_object() || !file.contains("records") || !file["records"].is_array())
      fail_input("no list of records");
    if (!file.contains("schema") || file["schema"] != kRecordSchema)
      fail_input("schema " + file.value("schema", Json(0)).dump() + ", this program reads " +
                 std::to_string(kRecordSchema));
    std::vector<Record> records;
    for (const Json& object : file["records"]) {
      if (!object.is_object()) fail_input("a record is not an object");
      Reader::require(object, {"op", "kernel", "problem", "device", "origin", "status"});
      visit_record(records.emplace_back(), Reader{&object});
    }
    return records;
  } catch (const std::exception& error) {
    fail_input("'" + what + "' is not a file of records: " + error.what());
  }
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

}  // namespace rooftile
