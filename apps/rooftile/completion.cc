// SPDX-License-Identifier: Apache-2.0
// rooftile completion: the scripts of completions/, which ask `rooftile __complete` for candidates.
#include "apps/rooftile/cli.h"
#include "cli_help.h"
#include "completions.h"
#include "rooftile/base/error.h"

namespace rooftile::cli {
namespace {

int run_completion(Session& session) {
  const std::vector<std::string>& words = session.args.words;
  if (words.size() != 1) fail_input("completion for which shell? bash, zsh or fish");
  if (words[0] == "bash") {
    session.print(embedded::bash);
  } else if (words[0] == "zsh") {
    session.print(embedded::zsh);
  } else if (words[0] == "fish") {
    session.print(embedded::fish);
  } else {
    fail_input(unknown_name("shell", words[0], {"bash", "zsh", "fish"}));
  }
  return kGood;
}

}  // namespace

Verb completion_verb() {
  return {.name = "completion",
          .help = embedded::completion,
          .words = Words::topics,
          .topics = {"bash", "zsh", "fish"},
          .is_global = false,
          .run = run_completion};
}

}  // namespace rooftile::cli
