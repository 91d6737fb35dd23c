// SPDX-License-Identifier: Apache-2.0
// rooftile list: what is known, as a table for people and as rows for --json.
#include <algorithm>
#include <filesystem>
#include <functional>

#include "apps/rooftile/cli.h"
#include "apps/rooftile/list_details.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/json.h"
#include "rooftile/base/text.h"
#include "rooftile/hardware/gpu.h"
#include "rooftile/model/model.h"
#include "rooftile/op/proof.h"

namespace rooftile::cli {
namespace {

// The last column is the tail: it may go on below.
struct Table {
  std::vector<Columns::Column> columns;
  std::vector<std::vector<std::string>> rows{};
  bool can_break = true;
};

void print_table(Session& session, const Table& table) {
  Columns columns(table.columns, session.width(), session.has_colour());
  const auto cells_of = [](const std::vector<std::string>& row) {
    std::vector<Cell> cells;
    for (const std::string& text : row) cells.push_back({text});
    cells.front().style = Style::bold;
    return cells;
  };
  for (const auto& row : table.rows) {
    std::vector<Cell> cells = cells_of(row);
    cells.pop_back();
    columns.fit(cells);
  }
  session.print(columns.header());
  for (const auto& row : table.rows) {
    std::vector<Cell> cells = cells_of(row);
    const Cell tail = cells.back();
    cells.pop_back();
    session.print(columns.row(cells, tail, table.can_break));
  }
}

void write_table(Session& session, const std::string& topic, const Table& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i].title] = row[i];
    rows.push_back(std::move(object));
  }
  const Json file{{"schema", kRecordSchema}, {"list", topic}, {"rows", std::move(rows)}};
  session.write_json(file.dump(1) + "\n");
}

Table ops_table(Session&, std::span<const Operation* const> operations) {
  Table table{{{"operation"}, {"kernels", 0, true}, {"summary"}}};
  for (const Operation* operation : operations)
    table.rows.push_back(
        {operation->def->name, std::to_string(operation->kernels.size()), operation->def->summary});
  return table;
}

Table kernels_table(Session& session, std::span<const Operation* const> operations) {
  const DeviceProperties& device = session.device().properties();
  Table table{{{"kernel"}, {"target"}, {"bits"}, {"calls"}, {"proof on " + device.id}, {"idea"}}};
  const auto add = [&](const Operation& operation, const KernelDef& kernel) {
    const ProofState proof = proof_state(*operation.def, kernel, device);
    const bool is_reference = &kernel == operation.reference.get();
    const std::string state = is_reference || !runs_on(kernel.target, device) ? "-"
                              : proof == ProofState::current                  ? "proven"
                              : proof == ProofState::stale                    ? "stale"
                                                                              : "unproven";
    table.rows.push_back({kernel.id(), std::string(name(kernel.target)),
                          std::string(name(kernel.determinism)),
                          kernel.calls_vendor_library ? "vendor" : "-", state, kernel.idea});
  };
  for (const Operation* operation : operations) {
    for (const KernelDef* kernel : operation->kernels) add(*operation, *kernel);
    add(*operation, *operation->reference);
  }
  return table;
}

Table cases_table(Session&, std::span<const Operation* const> operations) {
  Table table{{{"set"}, {"problem"}}, {}, false};
  for (const Operation* operation : operations)
    for (const Case& entry : operation->def->cases)
      table.rows.push_back({entry.set, operation->def->name + " " + entry.text});
  return table;
}

Table gpus_table(Session&, std::span<const Operation* const>) {
  Table table{{{"gpu"},
               {"memory", 0, true},
               {"bandwidth", 0, true},
               {"bf16", 0, true},
               {"fp8", 0, true},
               {"ridge bf16", 0, true},
               {"product"}}};
  const auto rate = [](const std::optional<double>& per_s) {
    return per_s ? rate_text(*per_s, "FLOP/s") : "-";
  };
  for (const Gpu& gpu : gpus()) {
    const auto ridge = ridge_ops_per_byte(gpu, kTensorBf16);
    table.rows.push_back(
        {std::string(gpu.name), gpu.memory_bytes ? rate_text(gpu.memory_bytes->value, "B") : "-",
         gpu.dram_bytes_per_s ? rate_text(gpu.dram_bytes_per_s->value, "B/s") : "-",
         rate(peak_ops_per_s(gpu, kTensorBf16)), rate(peak_ops_per_s(gpu, kTensorFp8)),
         ridge ? figures(*ridge) : "-",
         std::string(gpu.product) + ", " + std::string(gpu.architecture)});
  }
  return table;
}

Table dtypes_table(Session&, std::span<const Operation* const>) {
  static constexpr const char* kKinds[]{"floating", "integer", "scale", "block"};
  Table table{{{"dtype"},
               {"kind"},
               {"bits", 0, true},
               {"mantissa", 0, true},
               {"least normal", 0, true},
               {"largest", 0, true}}};
  for (const DTypeInfo& type : dtypes()) {
    const bool is_float = type.kind == DTypeKind::floating;
    table.rows.push_back({std::string(type.name), kKinds[static_cast<std::size_t>(type.kind)],
                          figures(8.0 * type.unit_bytes / type.unit_elements, 6),
                          is_float ? std::to_string(type.mantissa_bits) : "-",
                          is_float ? "2^" + std::to_string(type.min_exponent) : "-",
                          figures(type.max_finite, 6)});
  }
  return table;
}

Table devices_table(Session&, std::span<const Operation* const>) {
  Table table{{{"device"}, {"kind"}, {"units", 0, true}, {"name"}}};
  for (const DeviceFactory& factory : device_factories()) {
    for (const std::string& id : factory.list()) {
      const std::unique_ptr<Device> device = open_device(id);
      const DeviceProperties& properties = device->properties();
      table.rows.push_back(
          {id, properties.kind, std::to_string(properties.compute_units), properties.name});
    }
  }
  return table;
}

// What `run` takes without a path of one's own: fetched files in the cache, and synthetic shapes.
Table models_table(Session&, std::span<const Operation* const>) {
  Table table{{{"model"}, {"kind"}, {"bytes", 0, true}}};
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::path(cache_folder()) / "models";
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".gguf")
      table.rows.push_back({entry.path().string(), "GGUF file",
                            bytes_text(static_cast<double>(entry.file_size(ignored)))});
  std::ranges::sort(table.rows);
  for (const std::string& name : synthetic_models())
    table.rows.push_back({"synthetic:" + name, "seeded random weights", "-"});
  return table;
}

struct Topic {
  std::string name;
  bool takes_operation;
  Table (*make)(Session&, std::span<const Operation* const>);
};

const std::vector<Topic>& topics() {
  static const std::vector<Topic> list{
      {"ops", true, ops_table},        {"kernels", true, kernels_table},
      {"cases", true, cases_table},    {"gpus", false, gpus_table},
      {"dtypes", false, dtypes_table}, {"devices", false, devices_table},
      {"models", false, models_table}};
  return list;
}

std::vector<std::string> topic_names() {
  std::vector<std::string> names;
  for (const Topic& topic : topics()) names.push_back(topic.name);
  return names;
}

const Topic& find_topic(const std::string& name) {
  for (const Topic& topic : topics())
    if (topic.name == name) return topic;
  fail_input(unknown_name("list", name, topic_names()));
}

int run_list(Session& session) {
  const std::vector<std::string>& words = session.args.words;
  if (words.empty()) fail_input("list what? " + join(topic_names(), ", "));
  const Topic& topic = find_topic(words[0]);
  if (words.size() > (topic.takes_operation ? 2U : 1U))
    fail_input("list " + topic.name + ": '" + words.back() + "' is one word too many");
  const Request request = read_request(session, std::span(words).subspan(1));
  const Table table = topic.make(session, operations_of(session, request));
  if (topic.name == "ops" && request.operation != nullptr) {
    print_details(session, *request.operation->def);
  } else {
    print_table(session, table);
  }
  write_table(session, topic.name, table);
  return kGood;
}

}  // namespace

Verb list_verb() {
  return {.name = "list",
          .help = embedded::list,
          .words = Words::topics,
          .topics = topic_names(),
          .run = run_list};
}

}  // namespace rooftile::cli
