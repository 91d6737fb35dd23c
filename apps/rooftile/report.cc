// SPDX-License-Identifier: Apache-2.0
// rooftile report: a profile from a file, as text and as one page; no device and no model is
// needed.
#include "apps/rooftile/cli.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/workbench/profile_html.h"
#include "rooftile/workbench/profile_json.h"
#include "rooftile/workbench/profile_text.h"

namespace rooftile::cli {
namespace {

int run_report(Session& session) {
  const std::vector<std::string>& words = session.args.words;
  if (words.size() != 1)
    fail_input("report takes one file that 'rooftile profile … --json FILE' wrote; " +
               std::to_string(words.size()) + " were given");
  const std::string page = session.args.value("--report");
  if (session.args.has("--report")) check_writable(page);
  const std::optional<std::string> text = read_file(words[0]);
  if (!text) fail_input("there is no file '" + words[0] + "'");
  const Profile profile = profile_from_json(*text, words[0]);
  if (session.args.has("--report")) replace_file(page, profile_html(profile));
  ProfileText options{.has_colour = session.has_colour()};
  if (session.width() > 0) options.columns = session.width();
  session.print(profile_text(profile, options));
  return kGood;
}

}  // namespace

Verb report_verb() {
  return {.name = "report",
          .help = embedded::report,
          .words = Words::files,
          .options = {{"--report", "F.html", "write the page there"}},
          .is_global = false,
          .run = run_report};
}

}  // namespace rooftile::cli
