// SPDX-License-Identifier: Apache-2.0
// rooftile __complete WORDS…: what may stand where the last word stands. Each line is a candidate,
// then a tab and its meaning where there is one; ":files" asks the shell for file names. A
// candidate that ends with '=' is to be continued without a blank.
#include <algorithm>

#include "apps/rooftile/cli.h"
#include "rooftile/base/text.h"
#include "rooftile/op/op.h"

namespace rooftile::cli {
namespace {

struct Candidate {
  std::string text;
  std::string meaning{};
};

class Completer {
 public:
  explicit Completer(std::span<const std::string> words)
      : words_(words.begin(), words.end()), last_(words.empty() ? "" : words.back()) {
    if (words_.empty()) words_.emplace_back();
    load();
  }

  std::vector<Candidate> run() {
    if (words_.size() == 1) {
      for (const Verb& verb : verbs()) add(verb.name, title(verb));
      add("--help"), add("--version");
      return list_;
    }
    const auto verb = std::ranges::find(verbs(), words_[0], &Verb::name);
    if (verb == verbs().end()) return {};
    const std::vector<ArgOption> options = verb->all_options();
    const std::string& before = words_[words_.size() - 2];
    const auto taking = std::ranges::find_if(options, [&](const ArgOption& option) {
      return option.name == before && !option.placeholder.empty();
    });
    if (taking != options.end()) {
      add_values(*taking);
    } else if (last_.starts_with("-")) {
      for (const ArgOption& option : options) add(option.name, option.help);
    } else {
      add_words(*verb, options);
    }
    return list_;
  }

 private:
  // Plugins that were named on the line add their operations; a faulty one is no reason to
  // complain.
  void load() {
    std::vector<std::string> plugins;
    for (std::size_t i = 0; i + 1 < words_.size(); ++i)
      if (words_[i] == "--plugin" && i + 2 < words_.size()) plugins.push_back(words_[i + 1]);
    try {
      fill_registry(registry_, plugins);
    } catch (const std::exception&) {
      registry_ = Registry();
      fill_registry(registry_, {});
    }
  }

  // "# rooftile verify: what it does" of a page, the part after the colon.
  static std::string title(const Verb& verb) {
    const std::string line = split(verb.help, '\n').front();
    const std::size_t colon = line.find(": ");
    return colon == std::string::npos ? "" : line.substr(colon + 2);
  }

  void add(const std::string& text, const std::string& meaning = "") {
    if (text.starts_with(last_)) list_.push_back({text, meaning});
  }

  void add_values(const ArgOption& option) {
    for (const std::string& choice : option.choices) add(choice);
    if (option.placeholder == "SET") {
      std::vector<const Operation*> operations;
      for (const Operation& operation : registry_.operations()) operations.push_back(&operation);
      if (const Operation* operation = operation_of_line()) operations = {operation};
      for (const std::string& set : sets_of(operations)) add(set);
      add("all");
    } else if (option.placeholder == "KERNEL") {
      if (const Operation* operation = operation_of_line())
        for (const KernelDef* kernel : operation->kernels) add(kernel->name, kernel->idea);
    } else if (option.placeholder == "DEVICE") {
      for (const DeviceFactory& factory : device_factories())
        for (const std::string& id : factory.list()) add(id);
    } else if (option.placeholder == "FILE" || option.placeholder == "F.so" ||
               option.placeholder == "F.html") {
      list_.push_back({":files"});
    }
  }

  // Words that are neither options nor their values, without the verb.
  [[nodiscard]] std::vector<std::string> plain_words(const std::vector<ArgOption>& options) const {
    std::vector<std::string> plain;
    for (std::size_t i = 1; i < words_.size(); ++i) {
      const auto option = std::ranges::find(options, words_[i], &ArgOption::name);
      if (option != options.end()) {
        i += option->placeholder.empty() ? 0 : 1;
      } else {
        plain.push_back(words_[i]);
      }
    }
    return plain;
  }

  [[nodiscard]] const Operation* find_operation(const std::string& word) const {
    for (const Operation& operation : registry_.operations())
      if (operation.def->name == word.substr(0, word.find('/'))) return &operation;
    return nullptr;
  }

  [[nodiscard]] const Operation* operation_of_line() const {
    for (std::size_t i = 1; i + 1 < words_.size(); ++i)
      if (const Operation* operation = find_operation(words_[i])) return operation;
    return nullptr;
  }

  void add_words(const Verb& verb, const std::vector<ArgOption>& options) {
    const std::size_t place = plain_words(options).size();  // the last word counts
    const bool is_first = place <= 1;
    if (verb.words == Words::verbs && is_first) {
      for (const Verb& other : verbs()) add(other.name, title(other));
    } else if (verb.words == Words::files && is_first) {
      list_.push_back({":files"});
    } else if (verb.words == Words::topics && is_first) {
      for (const std::string& topic : verb.topics) add(topic);
    } else if (verb.words == Words::topics && verb.is_global && place == 2) {
      add_operations(false);
    } else if (verb.words == Words::problem || verb.words == Words::kernels) {
      const std::size_t num_names = verb.words == Words::kernels ? 2 : 1;
      if (place <= num_names) {
        add_operations(true);
        if (verb.words == Words::kernels) list_.push_back({":files"});
      } else if (const Operation* operation = operation_of_line()) {
        add_assignments(*operation->def);
      }
    }
  }

  void add_operations(bool has_kernels) {
    for (const Operation& operation : registry_.operations()) {
      add(operation.def->name, operation.def->summary);
      if (!has_kernels) continue;
      for (const KernelDef* kernel : operation.kernels) add(kernel->id(), kernel->idea);
      add(operation.reference->id(), operation.reference->idea);
    }
  }

  void add_assignments(const OpDef& op) {
    const std::size_t equals = last_.find('=');
    if (equals != std::string::npos) {
      add_assigned(op, last_.substr(0, equals));
      return;
    }
    const auto add_name = [&](const std::string& name, const std::string& meaning) {
      const auto is_given = [&](const std::string& word) { return word.starts_with(name + "="); };
      if (std::ranges::none_of(words_, is_given)) add(name + "=", meaning);
    };
    for (const AxisDef& axis : op.axes) add_name(axis.name, axis.help);
    for (const ArgDef& arg : op.args) {
      add_name(arg.name, "dtype of " + arg.name);
      if (!last_.starts_with(arg.name + ".")) continue;
      add_name(arg.name + ".stride", "elements from one to the next, a number for each axis");
      add_name(arg.name + ".offset", "elements before the first one");
      if (!arg.may_alias.empty())
        add_name(arg.name + ".alias", "the argument whose memory it uses");
      if (!arg.may_be_scaled) continue;
      add_name(arg.name + ".block", "extents of a block with one scale");
      add_name(arg.name + ".scale", "dtype of the scales");
    }
    for (const OptionDef& option : op.options) add_name(option.name, option.help);
    add_name("data", "distribution of the inputs");
    add_name("seed", "of the inputs");
  }

  void add_assigned(const OpDef& op, const std::string& name) {
    const auto offer = [&](const std::string& value) { add(name + "=" + value); };
    if (name == "data")
      for (const char* kind : {"randn", "uniform", "extreme", "zeros"}) offer(kind);
    for (const OptionDef& option : op.options) {
      if (option.name != name) continue;
      for (const std::string& choice : option.choices) offer(choice);
      if (option.choices.empty()) offer(option.default_value);
    }
    for (const ArgDef& arg : op.args) {
      if (arg.name == name)
        for (const DType dtype : arg.dtypes) offer(std::string(rooftile::name(dtype)));
      if (arg.name + ".alias" == name)
        for (const std::string& other : arg.may_alias) offer(other);
    }
  }

  std::vector<std::string> words_;
  std::string last_;
  Registry registry_{};
  std::vector<Candidate> list_{};
};

}  // namespace

int complete(std::span<const std::string> words) {
  std::string text;
  for (const Candidate& candidate : Completer(words).run()) {
    text += candidate.text;
    if (!candidate.meaning.empty()) text += "\t" + candidate.meaning;
    text += "\n";
  }
  Session().print(text);
  return kGood;
}

}  // namespace rooftile::cli
