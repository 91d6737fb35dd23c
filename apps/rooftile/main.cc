// SPDX-License-Identifier: Apache-2.0
// rooftile VERB …: finds the verb, parses its options, and turns whatever goes wrong into one
// message and an exit status: 0 all that was asked for held, 1 a check failed, 2 bad usage or
// input.
#include <csignal>
#include <cstring>
#include <exception>

#include "apps/rooftile/cli.h"
#include "rooftile/base/error.h"
#include "rooftile/base/file.h"

namespace rooftile::cli {

const std::vector<Verb>& verbs() {
  static const std::vector<Verb> list{
      devices_verb(), list_verb(),  verify_verb(),  bench_verb(),  compare_verb(),    tune_verb(),
      run_verb(),     check_verb(), profile_verb(), report_verb(), completion_verb(), help_verb()};
  return list;
}

const Verb& find_verb(const std::string& name) {
  std::vector<std::string> known;
  for (const Verb& verb : verbs()) {
    if (verb.name == name) return verb;
    known.push_back(verb.name);
  }
  fail_input(unknown_name("verb", name, known));
}

std::vector<ArgOption> Verb::all_options() const {
  static const std::vector<ArgOption> kGlobal{
      {"--on", "DEVICE", "where to run; default cpu"},
      {"--json", "FILE", "write the results there; - is stdout"},
      {"--plugin", "F.so", "load operations and kernels; repeatable", {}, true}};
  std::vector<ArgOption> all = options;
  if (is_global) all.insert(all.end(), kGlobal.begin(), kGlobal.end());
  all.push_back({"--help", "", "show this page"});
  return all;
}

namespace {

constexpr int kClosedPipe = 128 + SIGPIPE;  // what a shell reports of a program that SIGPIPE ended

bool asks_for_help(std::span<const std::string> arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return false;
    if (argument == "--help" || argument == "-h") return true;
  }
  return false;
}

int run_verb(const Verb& verb, std::span<const std::string> arguments) {
  Session session;
  if (asks_for_help(arguments)) {
    session.print(render_markdown(verb.help, session.has_colour()));
    return kGood;
  }
  session.args = parse_args(verb.all_options(), arguments);
  if (const std::string file = session.args.value("--json");
      session.args.has("--json") && file != "-")
    check_writable(file);
  fill_registry(session.registry, session.args.values("--plugin"));
  return verb.run(session);
}

int run(const std::vector<std::string>& arguments) {
  const std::string first = arguments.empty() ? "help" : arguments[0];
  const std::span<const std::string> rest = std::span(arguments).subspan(arguments.empty() ? 0 : 1);
  if (first == "--help" || first == "-h") return run_verb(find_verb("help"), rest);
  if (first == "--version") {
    Session().print("rooftile " ROOFTILE_VERSION "\n");
    return kGood;
  }
  if (first == "__complete") return complete(rest);
  if (first == "__options") {  // what a page of docs/cli must show
    Session().print(options_text(find_verb(rest.empty() ? "" : rest[0]).all_options()));
    return kGood;
  }
  if (first.starts_with("-"))
    fail_input("'" + first + "': a verb comes first, as in 'rooftile verify --help'");
  return run_verb(find_verb(first), rest);
}

int fail(const std::string& message) {
  std::fflush(stdout);
  std::fprintf(stderr, "%s %s\n",
               paint("rooftile: error:", Style::red, wants_colour(stderr)).c_str(),
               message.c_str());
  return kBadUsage;
}

int guarded(const std::vector<std::string>& arguments) {
  try {
    return run(arguments);
  } catch (const OutputClosed&) {
    return kClosedPipe;
  } catch (const std::bad_alloc&) {
    return fail("out of memory");
  } catch (const std::exception& error) {
    return fail(error.what());
  } catch (...) {
    return fail("an unknown exception");
  }
}

}  // namespace
}  // namespace rooftile::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a failed write, seen where it happens
  return rooftile::cli::guarded({argv + 1, argv + argc});
}
