// SPDX-License-Identifier: Apache-2.0
// Figures of records, written for people.
#include <algorithm>

#include "apps/rooftile/cli.h"
#include "rooftile/base/text.h"

namespace rooftile::cli {

std::string time_range(const Quantiles& time_us) {
  // The unit that time_text chose for the median.
  const std::string unit = split_words(time_text(time_us.median)).back();
  const double scale = unit == "ns" ? 1e3 : unit == "us" ? 1 : unit == "ms" ? 1e-3 : 1e-6;
  return "[" + figures(time_us.p10 * scale) + "-" + figures(time_us.p90 * scale) + "] n " +
         std::to_string(time_us.n);
}

std::string rate_of(const Record& record) {
  const bool is_compute = record.bound == "compute" || !record.gbytes_per_s;
  if (is_compute && record.tflops) return rate_text(*record.tflops * 1e12, "FLOP/s");
  if (record.gbytes_per_s) return rate_text(*record.gbytes_per_s * 1e9, "B/s");
  return "-";
}

Cell roof_of(const Record& record) {
  constexpr double kNear = 80;
  constexpr double kHalf = 50;
  if (record.bound == "cache") return {"in cache", Style::dim};
  if (!record.percent_of_roof) return {"-", Style::dim};
  const double percent = *record.percent_of_roof;
  return {figures(percent) + " % " + record.bound, percent >= kNear   ? Style::green
                                                   : percent >= kHalf ? Style::yellow
                                                                      : Style::red};
}

Cell status_cell(const Record& record) {
  return {std::string(name(record.status)), record.status == Status::passed        ? Style::green
                                            : record.status == Status::unsupported ? Style::dim
                                            : record.status == Status::invalid     ? Style::yellow
                                                                                   : Style::red};
}

std::string ratio_text(const Quantiles& ratio) {
  return figures(ratio.median) + "x [" + figures(ratio.p10) + "-" + figures(ratio.p90) + "]";
}

Style verdict_style(const std::string& verdict) {
  return verdict == "faster" ? Style::green : verdict == "slower" ? Style::red : Style::yellow;
}

bool has_failure(std::span<const Record> records) {
  return std::ranges::any_of(records, [](const Record& record) {
    return record.status == Status::failed || record.status == Status::invalid;
  });
}

void print_reason(Session& session, const Record& record) {
  const auto width = static_cast<std::size_t>(session.width());
  std::vector<std::string> lines{record.reason};
  if (width > 0) lines = wrap(record.reason, width - 4);
  for (const std::string& line : lines) session.print("    " + line + "\n");
}

std::string problem_line(const Record& record) {
  const std::size_t blank = record.problem.find(' ');
  return record.op + (blank == std::string::npos ? "" : record.problem.substr(blank));
}

}  // namespace rooftile::cli
