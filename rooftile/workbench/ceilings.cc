// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/ceilings.h"

#include <cmath>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/base/json.h"
#include "rooftile/op/cache.h"
#include "rooftile/workbench/timing.h"

namespace rooftile {
namespace {

constexpr const char* kFile = "ceilings.json";
// Raised when a device gets new probes: ceilings without them would leave roofs out.
constexpr int kVersion = 2;
constexpr double kMicro = 1e6;
constexpr double kMixTolerance = 0.02;

std::string key_of(const Device& device) {
  const DeviceProperties& properties = device.properties();
  return properties.name + " x" + std::to_string(properties.compute_units) + " " + properties.kind +
         (properties.driver.empty() ? "" : " " + properties.driver);
}

struct Mix {
  const char* name;
  double write_share;
  Ceiling Ceilings::* ceiling;
};

constexpr Mix kMixes[]{{"read", 0, &Ceilings::read},
                       {"triad", 1.0 / 3, &Ceilings::triad},
                       {"copy", 1.0 / 2, &Ceilings::copy},
                       {"write", 1, &Ceilings::write}};

Ceiling* memory_ceiling(Ceilings& ceilings, double write_share) {
  for (const Mix& mix : kMixes)
    if (std::abs(mix.write_share - write_share) < kMixTolerance) return &(ceilings.*mix.ceiling);
  return nullptr;
}

void keep_best(Ceiling& best, const Ceiling& candidate) {
  if (candidate.per_s > best.per_s) best = candidate;
}

Json to_json(const Ceiling& ceiling) {
  return {{"per_s", ceiling.per_s}, {"spread", ceiling.spread}, {"source", ceiling.source}};
}

Ceiling ceiling_from(const Json& json) {
  const Ceiling ceiling{json.at("per_s").get<double>(), json.at("spread").get<double>(),
                        json.at("source").get<std::string>()};
  if (!(ceiling.per_s >= 0) || !(ceiling.spread >= 0))
    fail_input("'" + ceiling.source + "' is no ceiling");
  return ceiling;
}

std::string to_text(const Ceilings& ceilings) {
  Json json{{"version", kVersion}};
  for (const Mix& mix : kMixes) json[mix.name] = to_json(ceilings.*mix.ceiling);
  for (int unit = 0; unit < kNumUnits; ++unit)
    if (const auto& ceiling = ceilings.units[static_cast<std::size_t>(unit)])
      json["units"][std::string(name(static_cast<Unit>(unit)))] = to_json(*ceiling);
  return json.dump();
}

Ceilings from_text(const std::string& text) {
  const Json json = parse_json(text);
  if (json.at("version").get<int>() != kVersion) fail_input("ceilings of other probes");
  Ceilings ceilings;
  for (const Mix& mix : kMixes) ceilings.*mix.ceiling = ceiling_from(json.at(mix.name));
  for (int unit = 0; unit < kNumUnits; ++unit) {
    const std::string unit_name(name(static_cast<Unit>(unit)));
    if (json.contains("units") && json["units"].contains(unit_name))
      ceilings.units[static_cast<std::size_t>(unit)] = ceiling_from(json["units"][unit_name]);
  }
  return ceilings;
}

Ceilings with_sheet(Ceilings measured, const Device& device) {
  const Ceilings sheet = device.sheet();
  measured.sheet_bytes_per_s = sheet.sheet_bytes_per_s;
  measured.sheet_ops_per_s = sheet.sheet_ops_per_s;
  return measured;
}

}  // namespace

Ceilings measure_ceilings(
    Device& device,
    const std::function<void(const std::string& probe, int done, int of)>& on_progress) {
  const std::unique_ptr<Stream> stream = device.make_stream();
  const std::vector<Probe> probes = device.probes();
  Ceilings ceilings;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const Probe& probe = probes[i];
    if (on_progress) on_progress(probe.name, static_cast<int>(i), static_cast<int>(probes.size()));
    Contender contender{.run = [&] { probe.run(*stream); }};
    alternate(device, *stream, {&contender, 1},
              {.mode = Mode::hot, .budget_s = 0.4, .least_samples = 7, .warm_up_runs = 1});
    const Quantiles time = quantiles(contender.samples_us);
    const double bytes = probe.read_bytes + probe.written_bytes;
    const double amount = probe.unit ? probe.ops : bytes;
    const Ceiling reached{amount / time.median * kMicro, (time.p90 - time.p10) / 2 / time.median,
                          probe.name};
    if (probe.unit) {
      auto& best = ceilings.units[static_cast<std::size_t>(*probe.unit)];
      if (!best) best.emplace();
      keep_best(*best, reached);
    } else if (Ceiling* best = memory_ceiling(ceilings, probe.written_bytes / bytes)) {
      keep_best(*best, reached);
    }
  }
  return with_sheet(ceilings, device);
}

Ceilings ceilings_of(
    Device& device,
    const std::function<void(const std::string& probe, int done, int of)>& on_progress) {
  const CacheFile::Entries entries = CacheFile(kFile).read();
  if (const auto found = entries.find(key_of(device)); found != entries.end()) {
    try {
      return with_sheet(from_text(found->second), device);
    } catch (const std::exception&) {  // an entry of another version: measured afresh below
    }
  }
  const Ceilings ceilings = measure_ceilings(device, on_progress);
  remember_ceilings(device, ceilings);
  return ceilings;
}

void remember_ceilings(const Device& device, const Ceilings& ceilings) {
  CacheFile(kFile).update(
      [&](CacheFile::Entries& entries) { entries[key_of(device)] = to_text(ceilings); });
}

void improve_ceilings(Device& device, Ceilings& ceilings) {
  const Ceilings again = measure_ceilings(device);
  for (const Mix& mix : kMixes) keep_best(ceilings.*mix.ceiling, again.*mix.ceiling);
  for (std::size_t unit = 0; unit < again.units.size(); ++unit)
    if (again.units[unit]) {
      if (!ceilings.units[unit]) ceilings.units[unit].emplace();
      keep_best(*ceilings.units[unit], *again.units[unit]);
    }
  remember_ceilings(device, ceilings);
}

bool raise_ceiling(Ceilings& ceilings, const Cost& cost, double time_us,
                   const std::string& source) {
  const auto raise = [&](Ceiling& ceiling, double amount) {
    const double reached = amount / time_us * kMicro;
    if (ceiling.per_s <= 0 || reached <= ceiling.per_s * (1 + ceiling.spread)) return false;
    ceiling.per_s = reached;
    ceiling.source = source;
    return true;
  };
  bool is_raised = false;
  if (cost.bytes() > 0)
    if (Ceiling* ceiling = memory_ceiling(ceilings, cost.bytes_written / cost.bytes()))
      is_raised |= raise(*ceiling, cost.bytes());
  for (std::size_t unit = 0; unit < cost.ops.size(); ++unit)
    if (ceilings.units[unit] && cost.ops[unit] > 0)
      is_raised |= raise(*ceilings.units[unit], cost.ops[unit]);
  return is_raised;
}

}  // namespace rooftile
