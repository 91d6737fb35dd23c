// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/ptxas_report.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <vector>

namespace rooftile {
namespace {

struct Entry {
  std::string name;  // with its template arguments, without qualifiers, parameters and blanks
  KernelResources resources;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// "rows<a::bf16, 4>" as "rows<bf16,4>": what is left of each "::" in the same word goes.
std::string without_qualifiers(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "::") {
      while (!out.empty() && is_word(out.back())) out.pop_back();
      ++i;
    } else if (text[i] != ' ') {
      out += text[i];
    }
  }
  return out;
}

std::string base_name(std::string_view name) { return std::string(name.substr(0, name.find('<'))); }

/// The kernel's name of a mangled symbol: "void a::rows<float, 4>(a::Call)" as "rows<float,4>".
std::string entry_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  std::string whole = text == nullptr ? mangled : text.get();
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at = whole.find(kAnonymous); at != std::string::npos;
       at = whole.find(kAnonymous))
    whole.erase(at, kAnonymous.size());
  std::string_view name = whole;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth != 0) continue;
    if (name[i] == ' ') begin = i + 1;  // after the type that it returns
    if (name[i] == '(') {
      name = name.substr(0, i);
      break;
    }
  }
  return without_qualifiers(name.substr(std::min(begin, name.size())));
}

/// The number before `unit`, or 0.
std::int64_t number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return 0;
  std::size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) --begin;
  std::int64_t value = 0;
  std::from_chars(line.data() + begin, line.data() + at, value);
  return value;
}

std::vector<Entry> entries_of(std::string_view report) {
  std::vector<Entry> entries;
  while (!report.empty()) {
    const std::size_t end = std::min(report.find('\n'), report.size());
    const std::string_view line = report.substr(0, end);
    report.remove_prefix(std::min(end + 1, report.size()));
    constexpr std::string_view kEntry = "Compiling entry function '";
    if (const std::size_t at = line.find(kEntry); at != std::string_view::npos) {
      const std::string_view rest = line.substr(at + kEntry.size());
      entries.push_back({entry_name(std::string(rest.substr(0, rest.find('\'')))), {}});
    }
    if (entries.empty()) continue;
    KernelResources& last = entries.back().resources;
    if (line.find(" registers") != std::string_view::npos) {
      last.registers = static_cast<int>(number_before(line, " registers"));
      last.static_shared_bytes = number_before(line, " bytes smem");
    }
    last.spilled_bytes +=
        number_before(line, " bytes spill stores") + number_before(line, " bytes spill loads");
  }
  return entries;
}

}  // namespace

std::optional<KernelResources> resources_of(std::string_view report, std::string_view kernel) {
  const std::string wanted = without_qualifiers(kernel);
  std::vector<KernelResources> same_base;
  for (const Entry& entry : entries_of(report)) {
    if (entry.name == wanted) return entry.resources;
    if (base_name(entry.name) == base_name(wanted)) same_base.push_back(entry.resources);
  }
  if (same_base.empty()) return std::nullopt;
  KernelResources most;
  for (const KernelResources& one : same_base) {
    most.registers = std::max(most.registers, one.registers);
    most.static_shared_bytes = std::max(most.static_shared_bytes, one.static_shared_bytes);
    most.spilled_bytes = std::max(most.spilled_bytes, one.spilled_bytes);
  }
  most.instances = static_cast<int>(same_base.size());
  return most;
}

}  // namespace rooftile
