// SPDX-License-Identifier: Apache-2.0
// rooftile devices: what is here, what it reaches, and where the ridges are.
#include <algorithm>
#include <utility>

#include "apps/rooftile/cli.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/json.h"
#include "rooftile/base/text.h"
#include "rooftile/device/libraries.h"
#include "rooftile/workbench/ceilings.h"

namespace rooftile::cli {
namespace {

struct Mix {
  const char* name;
  const char* what;
  Ceiling Ceilings::* ceiling;
};
constexpr Mix kMixes[]{{"read", "read only", &Ceilings::read},
                       {"triad", "read 2 : write 1", &Ceilings::triad},
                       {"copy", "read 1 : write 1", &Ceilings::copy},
                       {"write", "write only", &Ceilings::write}};

std::vector<std::string> ids_wanted(const Session& session) {
  if (session.args.has("--on")) return {session.args.value("--on")};
  std::vector<std::string> ids;
  for (const DeviceFactory& factory : device_factories())
    for (const std::string& id : factory.list()) ids.push_back(id);
  return ids;
}

Ceilings ceilings_for(Session& session, Device& device) {
  const auto on_progress = [&](const std::string& probe, int done, int of) {
    session.progress.update(device.properties().id + ": " + probe, done, of);
  };
  if (!session.args.has("--measure")) return ceilings_of(device, on_progress);
  const Ceilings measured = measure_ceilings(device, on_progress);
  remember_ceilings(device, measured);
  return measured;
}

std::string ridge_of(double ops_per_s, const Ceilings& ceilings) {
  return ceilings.copy.per_s > 0 ? figures(ops_per_s / ceilings.copy.per_s) : "-";
}

Cell spread_cell(const Ceiling& ceiling) {
  return {"± " + figures(ceiling.spread * 100, 2) + " %", Style::dim};
}

std::string sheet_text(const std::optional<double>& per_s, const char* unit) {
  return per_s ? rate_text(*per_s, unit) : "-";
}

void print_device(Session& session, const DeviceProperties& device, const Ceilings& ceilings) {
  const bool colour = session.has_colour();
  std::string facts = device.kind + ", " + std::to_string(device.compute_units) +
                      (device.gpu != nullptr ? " SMs" : " threads") + ", last-level cache " +
                      bytes_text(static_cast<double>(device.last_level_cache_bytes)) + ", memory " +
                      bytes_text(static_cast<double>(device.memory_bytes));
  if (!device.driver.empty()) facts += ", driver " + device.driver;
  session.print(paint(device.id, Style::bold, colour) + "  " + device.name + "\n  " + facts + "\n");

  Columns memory({{"bandwidth", 16},
                  {"measured", 13, true},
                  {"", 8},
                  {"data sheet", 13, true},
                  {"reached by", 10}},
                 session.width(), colour, 2);
  session.print(memory.header());
  for (const Mix& mix : kMixes) {
    const Ceiling& ceiling = ceilings.*mix.ceiling;
    if (ceiling.per_s <= 0) continue;
    session.print(memory.row({{mix.what},
                              {rate_text(ceiling.per_s, "B/s"), Style::bold},
                              spread_cell(ceiling),
                              {sheet_text(ceilings.sheet_bytes_per_s, "B/s")}},
                             {ceiling.source}));
  }
  Columns compute({{"arithmetic", 16},
                   {"measured", 13, true},
                   {"", 8},
                   {"data sheet", 13, true},
                   {"ridge", 10, true},
                   {"reached by", 10}},
                  session.width(), colour, 2);
  session.print(compute.header());
  for (std::size_t unit = 0; unit < ceilings.units.size(); ++unit) {
    const auto& ceiling = ceilings.units[unit];
    const auto& sheet = ceilings.sheet_ops_per_s[unit];
    if (!ceiling && !sheet) continue;
    session.print(compute.row({{std::string(name(static_cast<Unit>(unit)))},
                               {ceiling ? rate_text(ceiling->per_s, "FLOP/s") : "-", Style::bold},
                               ceiling ? spread_cell(*ceiling) : Cell{},
                               {sheet_text(sheet, "FLOP/s")},
                               {ridge_of(ceiling ? ceiling->per_s : *sheet, ceilings)}},
                              {ceiling ? ceiling->source : ""}));
  }
  session.print(
      "  ridge: operations a byte above which the arithmetic is the limit, at the bandwidth\n"
      "  of copy\n");
}

Json to_json(const Ceiling& ceiling) {
  return {{"per_s", ceiling.per_s}, {"spread", ceiling.spread}, {"source", ceiling.source}};
}

Json to_json(const DeviceProperties& device, const Ceilings& ceilings) {
  Json bandwidth = Json::object();
  for (const Mix& mix : kMixes)
    if ((ceilings.*mix.ceiling).per_s > 0) bandwidth[mix.name] = to_json(ceilings.*mix.ceiling);
  Json operations = Json::object();
  Json ridges = Json::object();
  Json sheet = Json::object();
  if (ceilings.sheet_bytes_per_s) sheet["bytes_per_s"] = *ceilings.sheet_bytes_per_s;
  for (std::size_t unit = 0; unit < ceilings.units.size(); ++unit) {
    const std::string unit_name(name(static_cast<Unit>(unit)));
    if (const auto& ceiling = ceilings.units[unit]) {
      operations[unit_name] = to_json(*ceiling);
      if (ceilings.copy.per_s > 0) ridges[unit_name] = ceiling->per_s / ceilings.copy.per_s;
    }
    if (const auto& figure = ceilings.sheet_ops_per_s[unit])
      sheet["ops_per_s"][unit_name] = *figure;
  }
  Json json{{"id", device.id},
            {"name", device.name},
            {"kind", device.kind},
            {"compute_units", device.compute_units},
            {"memory_bytes", device.memory_bytes},
            {"last_level_cache_bytes", device.last_level_cache_bytes},
            {"bytes_per_s", bandwidth},
            {"ops_per_s", operations},
            {"ridge_ops_per_byte", ridges}};
  if (!device.driver.empty()) json["driver"] = device.driver;
  if (!sheet.empty()) json["data_sheet"] = sheet;
  return json;
}

// What kernels of these devices can call; of a family whose devices are not shown, nothing.
std::vector<VendorLibrary> libraries_of(const Session& session) {
  std::vector<VendorLibrary> all = vendor_libraries();
  if (session.args.has("--on"))
    std::erase_if(all, [&](const VendorLibrary& library) {
      return !session.args.value("--on").starts_with(library.family + ":");
    });
  return all;
}

void print_libraries(Session& session, const std::vector<VendorLibrary>& libraries) {
  if (libraries.empty()) return;
  session.print(paint("libraries", Style::bold, session.has_colour()) +
                "  of vendors, loaded at run time\n");
  Columns columns({{"library", 16}, {"version", 13}}, session.width(), session.has_colour(), 2);
  for (const VendorLibrary& library : libraries)
    session.print(columns.row({{library.name}, {library.version.empty() ? "-" : library.version}},
                              {library.reason}));
}

Json to_json(const VendorLibrary& library) {
  Json json{{"name", library.name}};
  if (!library.version.empty()) json["version"] = library.version;
  if (!library.reason.empty()) json["reason"] = library.reason;
  return json;
}

int run_devices(Session& session) {
  if (!session.args.words.empty())
    fail_input("devices takes no '" + session.args.words[0] + "'; name one with --on DEVICE");
  Json devices = Json::array();
  for (const std::string& id : ids_wanted(session)) {
    const std::unique_ptr<Device> device = open_device(id);
    const Ceilings ceilings = ceilings_for(session, *device);
    print_device(session, device->properties(), ceilings);
    devices.push_back(to_json(device->properties(), ceilings));
  }
  const std::vector<VendorLibrary> found = libraries_of(session);
  print_libraries(session, found);
  Json libraries = Json::array();
  for (const VendorLibrary& library : found) libraries.push_back(to_json(library));
  const Json file{{"schema", kRecordSchema},
                  {"devices", std::move(devices)},
                  {"libraries", std::move(libraries)}};
  session.write_json(file.dump(1) + "\n");
  return kGood;
}

}  // namespace

Verb devices_verb() {
  return {.name = "devices",
          .help = embedded::devices,
          .options = {{"--measure", "", "measure the ceilings afresh and keep them"}},
          .run = run_devices};
}

}  // namespace rooftile::cli
