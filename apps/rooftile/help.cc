// SPDX-License-Identifier: Apache-2.0
// rooftile help: the pages of docs/cli as a terminal shows them.
#include "apps/rooftile/cli.h"
#include "cli_help.h"
#include "rooftile/base/error.h"
#include "rooftile/base/text.h"

namespace rooftile::cli {
namespace {

// Text between backticks, without them.
std::string inline_code(const std::string& line, bool has_colour) {
  const std::vector<std::string> parts = split(line, '`');
  if (parts.size() % 2 == 0) return line;  // an odd mark: text, not code
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += i % 2 == 1 ? paint(parts[i], Style::cyan, has_colour) : parts[i];
  return text;
}

int run_help(Session& session) {
  const std::vector<std::string>& words = session.args.words;
  if (words.size() > 1) fail_input("help takes one verb, not '" + words[1] + "' too");
  const std::string_view page = words.empty() ? embedded::rooftile : find_verb(words[0]).help;
  session.print(render_markdown(page, session.has_colour()));
  return kGood;
}

}  // namespace

std::string render_markdown(std::string_view page, bool has_colour) {
  std::string text;
  bool is_code = false;
  for (const std::string& line : split(page, '\n')) {
    if (line.starts_with("```")) {
      is_code = !is_code;
    } else if (is_code) {
      text += (line.empty() ? "" : "  " + line) + "\n";
    } else if (line.starts_with("#")) {
      const std::size_t start = line.find_first_not_of("# ");
      text += paint(start == std::string::npos ? "" : line.substr(start), Style::bold, has_colour) +
              "\n";
    } else {
      text += inline_code(line, has_colour) + "\n";
    }
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

Verb help_verb() {
  return {.name = "help",
          .help = embedded::rooftile,
          .words = Words::verbs,
          .is_global = false,
          .run = run_help};
}

}  // namespace rooftile::cli
