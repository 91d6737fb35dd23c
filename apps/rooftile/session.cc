// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "apps/rooftile/cli.h"
#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/text.h"
#include "rooftile/op/plugin.h"
#include "rooftile/ops/catalogue.h"
#include "rooftile/workbench/ceilings.h"

namespace rooftile::cli {
namespace {

void write_all(std::FILE* stream, std::string_view text) {
  const bool is_written =
      std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::fflush(stream) == 0;
  if (is_written || stream == stderr) return;
  if (errno == EPIPE) throw OutputClosed{};
  throw Error(ErrorCode::io,
              std::string("cannot write to standard output: ") + std::strerror(errno));
}

}  // namespace

std::FILE* Session::stream() const { return args.value("--json") == "-" ? stderr : stdout; }
bool Session::has_colour() const { return wants_colour(stream()); }
int Session::width() const { return console_width(stream()); }

void Session::print(std::string_view text) {
  progress.clear();
  write_all(stream(), text);
}

Device& Session::device() {
  if (!device_) device_ = open_device(args.value("--on", "cpu"));
  return *device_;
}

Ceilings& Session::ceilings() {
  if (!ceilings_) {
    ceilings_ = ceilings_of(device(), [&](const std::string& probe, int done, int of) {
      progress.update("measuring ceilings: " + probe, done, of);
    });
    progress.clear();
  }
  return *ceilings_;
}

std::string Session::common_options() const {
  std::string text;
  if (args.has("--on") && args.value("--on") != "cpu") text += " --on " + args.value("--on");
  for (const std::string& plugin : args.values("--plugin"))
    text += " --plugin " + shell_quote(plugin);
  return text;
}

const Record& Session::keep(Record record, const std::string& options) {
  record.command += options + common_options();
  if (const char* commit = std::getenv("ROOFTILE_COMMIT"); commit != nullptr)
    record.commit = commit;
  return records.emplace_back(std::move(record));
}

void Session::write_json(const std::string& text) {
  if (!args.has("--json")) return;
  progress.clear();
  const std::string file = args.value("--json");
  if (file == "-") {
    write_all(stdout, text);
  } else {
    replace_file(file, text);
  }
}

void fill_registry(Registry& registry, const std::vector<std::string>& plugins) {
  add_catalogue(registry);
  for (const std::string& plugin : plugins) load_plugin(registry, plugin);
}

}  // namespace rooftile::cli
