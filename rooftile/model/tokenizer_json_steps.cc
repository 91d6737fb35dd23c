// SPDX-License-Identifier: Apache-2.0
// The normalizer, pre_tokenizer and decoder of tokenizer.json.
#include <vector>

#include "rooftile/base/function_ref.h"
#include "rooftile/model/text_pipeline.h"
#include "rooftile/model/tokenizer_json_internal.h"

namespace rooftile::tokenizer_json {
namespace {

constexpr int kMostDepth = 8;  // of Sequences in Sequences
constexpr const char* kMarker = "\xE2\x96\x81";

// Calls `visit` with each step of `value` that is no Sequence; `list` is the name of its children.
void each_step(const Object& value, const std::string& where, const char* list,
               FunctionRef<void(const Object&, const std::string& type)> visit, int depth = 0) {
  if (value.is_null()) return;
  const std::string type = text_of(member(value, "type"), where + ".type");
  if (type != "Sequence") return visit(value, type);
  const Object& children = member(value, list);
  if (!children.is_array()) fail_field(where + "." + list, children, "a list");
  if (depth == kMostDepth) fail_input(where + ": Sequences nested too deeply");
  for (const Object& child : children) each_step(child, where, list, visit, depth + 1);
}

[[noreturn]] void fail_type(const std::string& where, const std::string& type,
                            const std::vector<std::string>& known) {
  throw Error(ErrorCode::unsupported, where + ": " + unknown_name("type", type, known));
}

// {"String": text} or {"Regex": text}
std::string pattern_of(const Object& step, const std::string& where, bool& is_regex) {
  const Object& pattern = member(step, "pattern");
  is_regex = pattern.is_object() && pattern.contains("Regex");
  return text_of(member(pattern, is_regex ? "Regex" : "String"), where + ".pattern");
}

void read_normaliser(TokenizerData& data, const Object& step, const std::string& type) {
  using Kind = NormaliseStep::Kind;
  const std::string where = "normalizer." + type;
  if (type == "Prepend") {
    const std::string text = text_of(member(step, "prepend"), where + ".prepend");
    data.normaliser.push_back({Kind::prepend, {}, text});
  } else if (type == "Replace") {
    bool is_regex = false;
    const std::string from = pattern_of(step, where, is_regex);
    if (is_regex)
      throw Error(ErrorCode::unsupported, where + ": a Regex as pattern; allowed: a String");
    data.normaliser.push_back({Kind::replace, from, text_of(member(step, "content"), where)});
  } else if (type == "NFC") {
    data.normaliser.push_back({Kind::nfc});
  } else {
    fail_type("normalizer", type, {"Sequence", "Prepend", "Replace", "NFC"});
  }
}

SplitStep::Behaviour behaviour_of(const Object& value) {
  using enum SplitStep::Behaviour;
  const std::string name = text_of(value, "pre_tokenizer.Split.behavior");
  if (name == "Isolated") return isolated;
  if (name == "Removed") return removed;
  if (name == "MergedWithPrevious") return merged_with_previous;
  if (name == "MergedWithNext") return merged_with_next;
  if (name == "Contiguous") return contiguous;
  fail_input(
      unknown_name("pre_tokenizer.Split.behavior", name,
                   {"Isolated", "Removed", "MergedWithPrevious", "MergedWithNext", "Contiguous"}));
}

// Metaspace; `prefix` as prepend_scheme says, or as add_prefix_space of older files.
MarkerPrefix prefix_of(const Object& step) {
  const Object& scheme = member(step, "prepend_scheme");
  if (scheme.is_null())
    return flag_of(step, "add_prefix_space", true) ? MarkerPrefix::always : MarkerPrefix::never;
  const std::string name = text_of(scheme, "Metaspace.prepend_scheme");
  if (name == "always") return MarkerPrefix::always;
  if (name == "first") return MarkerPrefix::first;
  if (name == "never") return MarkerPrefix::never;
  fail_input(unknown_name("Metaspace.prepend_scheme", name, {"always", "first", "never"}));
}

void read_metaspace(TokenizerData& data, const Object& step) {
  const std::string marker =
      text_of(member(step, "replacement"), "pre_tokenizer.Metaspace.replacement");
  data.splitter.push_back(
      {.kind = SplitStep::Kind::metaspace, .pattern = marker, .prefix = prefix_of(step)});
  if (flag_of(step, "split", true))
    data.splitter.push_back({.kind = SplitStep::Kind::literal,
                             .behaviour = SplitStep::Behaviour::merged_with_next,
                             .pattern = marker});
}

void read_splitter(TokenizerData& data, const Object& step, const std::string& type) {
  using Kind = SplitStep::Kind;
  if (type == "ByteLevel") {
    if (flag_of(step, "add_prefix_space", true))
      data.splitter.push_back({.kind = Kind::prefix_space});
    if (flag_of(step, "use_regex", true))
      data.splitter.push_back({.kind = Kind::regex, .pattern = kGpt2Pattern});
  } else if (type == "Split") {
    bool is_regex = false;
    const std::string pattern = pattern_of(step, "pre_tokenizer.Split", is_regex);
    data.splitter.push_back({.kind = is_regex ? Kind::regex : Kind::literal,
                             .behaviour = behaviour_of(member(step, "behavior")),
                             .pattern = pattern,
                             .is_inverted = flag_of(step, "invert", false)});
  } else if (type == "Digits") {
    const bool is_single = flag_of(step, "individual_digits", false);
    data.splitter.push_back({.kind = Kind::regex, .pattern = is_single ? R"(\p{N})" : R"(\p{N}+)"});
  } else if (type == "Metaspace") {
    read_metaspace(data, step);
  } else {
    fail_type("pre_tokenizer", type, {"Sequence", "ByteLevel", "Split", "Digits", "Metaspace"});
  }
}

void read_decoder(TokenizerData& data, const Object& step, const std::string& type) {
  const std::string where = "decoder." + type;
  if (type == "ByteLevel" || type == "ByteFallback" || type == "Fuse") return;
  if (type == "Metaspace") {
    data.space_marker = text_of(member(step, "replacement"), where + ".replacement");
    if (prefix_of(step) != MarkerPrefix::never) data.leading_blank = LeadingBlank::marker_stripped;
  } else if (type == "Replace") {
    bool is_regex = false;
    const std::string marker = pattern_of(step, where, is_regex);
    if (is_regex || text_of(member(step, "content"), where + ".content") != " ")
      throw Error(ErrorCode::unsupported, where + ": allowed: a String replaced by one blank");
    data.space_marker = marker;
  } else if (type == "Strip") {
    const bool is_blank = member(step, "content") == " " && member(step, "stop") == 0;
    if (!is_blank || (member(step, "start") != 1 && member(step, "start") != 0))
      fail_field(where, step, "content \" \", start 0 or 1, stop 0");
    if (member(step, "start") == 1) data.leading_blank = LeadingBlank::stripped;
  } else {
    fail_type("decoder", type,
              {"Sequence", "ByteLevel", "ByteFallback", "Fuse", "Metaspace", "Replace", "Strip"});
  }
}

}  // namespace

void read_steps(TokenizerData& data, const Object& file) {
  each_step(
      member(file, "normalizer"), "normalizer", "normalizers",
      [&](const Object& step, const std::string& type) { read_normaliser(data, step, type); });
  each_step(member(file, "pre_tokenizer"), "pre_tokenizer", "pretokenizers",
            [&](const Object& step, const std::string& type) { read_splitter(data, step, type); });
  each_step(member(file, "decoder"), "decoder", "decoders",
            [&](const Object& step, const std::string& type) { read_decoder(data, step, type); });
  if (data.kind != TokenizerKind::byte_level_bpe && member(file, "decoder").is_null())
    data.space_marker = kMarker;
}

bool is_byte_level(const Object& file) {
  bool found = false;
  const auto look = [&](const Object&, const std::string& type) { found |= type == "ByteLevel"; };
  each_step(member(file, "pre_tokenizer"), "pre_tokenizer", "pretokenizers", look);
  each_step(member(file, "decoder"), "decoder", "decoders", look);
  return found;
}

}  // namespace rooftile::tokenizer_json
