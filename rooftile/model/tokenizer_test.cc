// SPDX-License-Identifier: Apache-2.0
// Tokenizers small enough to check by hand; tests/model compares whole ones with Hugging Face's.
#include "rooftile/model/tokenizer.h"

#include <chrono>
#include <map>
#include <optional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rooftile/base/error.h"
#include "rooftile/base/test_folder.h"
#include "rooftile/model/byte_alphabet.h"
#include "rooftile/model/nfc.h"
#include "rooftile/model/tokenizer_gguf.h"
#include "rooftile/model/tokenizer_json.h"

namespace rooftile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// GGUF metadata as maps.
struct Metadata {
  std::map<std::string, std::string> strings{};
  std::map<std::string, std::vector<std::string>> lists{};
  std::map<std::string, std::vector<double>> floats{};
  std::map<std::string, std::vector<std::int64_t>> ints{};
  std::map<std::string, std::int64_t> ids{};
  std::map<std::string, bool> flags{};

  template <class Map>
  static std::optional<typename Map::mapped_type> get(const Map& map, const std::string& key) {
    const auto found = map.find(key.substr(key.rfind('.') + 1));
    if (found == map.end()) return std::nullopt;
    return found->second;
  }
  [[nodiscard]] auto text(const std::string& key) const { return get(strings, key); }
  [[nodiscard]] auto flag(const std::string& key) const { return get(flags, key); }
  [[nodiscard]] auto integer(const std::string& key) const { return get(ids, key); }
  [[nodiscard]] auto texts(const std::string& key) const { return get(lists, key); }
  [[nodiscard]] auto numbers(const std::string& key) const { return get(floats, key); }
  [[nodiscard]] auto integers(const std::string& key) const { return get(ints, key); }
};

// All bytes (ids 0 to 255), a few words, and control tokens of the kind that chats have.
Metadata byte_level(const std::string& pre) {
  Metadata data;
  auto& tokens = data.lists["tokens"];
  for (int byte = 0; byte < 256; ++byte)
    tokens.push_back(alphabet_from_bytes(std::string(1, static_cast<char>(byte))));
  for (const char* token : {"ab", "abc", "<s>", "<s>x", "[T]"}) tokens.emplace_back(token);
  data.ints["token_type"].assign(256 + 5, 1);
  data.ints["token_type"][258] = data.ints["token_type"][259] = 3;
  data.ints["token_type"][260] = 4;
  data.lists["merges"] = {"a b", "ab c"};
  data.strings = {{"model", "gpt2"}, {"pre", pre}};
  data.ids = {{"bos_token_id", 258}};
  return data;
}

std::unique_ptr<Tokenizer> make(const Metadata& data) {
  return make_tokenizer(tokenizer_data_from_gguf(data));
}

// Pieces of Llama 2's kind: scores, byte tokens, a marker for blanks.
Metadata pieces() {
  Metadata data;
  data.strings = {{"model", "llama"}};
  data.lists["tokens"] = {"<unk>",
                          "<s>",
                          "</s>",
                          "<0xC3>",
                          "<0xB6>",
                          "\xE2\x96\x81",
                          "a",
                          "b",
                          "ab",
                          "\xE2\x96\x81"
                          "a",
                          "G",
                          "<",
                          "s",
                          ">"};
  data.floats["scores"] = {0, 0, 0, 0, 0, -5, -6, -7, -2, -1, -8, -9, -9, -9};
  data.ints["token_type"] = {2, 3, 3, 6, 6, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  data.ids = {{"bos_token_id", 1}, {"eos_token_id", 2}, {"unknown_token_id", 0}};
  return data;
}

constexpr EncodeOptions kPlain{.add_special = false};
constexpr EncodeOptions kParsed{.add_special = false, .parse_special = true};

TEST(ByteLevel, MergesByRank) {
  const auto tokenizer = make(byte_level("gpt-2"));
  EXPECT_THAT(tokenizer->encode("abcab", kPlain), ElementsAre(257, 256));
  EXPECT_THAT(tokenizer->encode("ba", kPlain), ElementsAre('b', 'a'));
  EXPECT_THAT(tokenizer->encode("", kPlain), ElementsAre());
}

TEST(ByteLevel, GivesEveryByteBack) {
  const auto tokenizer = make(byte_level("llama-bpe"));
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text : {all, std::string("F\xC3\xBChrer"), std::string("\xFF\xFE"),
                                  std::string("this is \xF0\x9F\xA6\x99.cpp"),
                                  std::string("\xEF\xBF\xBD"), std::string("a\xE2\x96")})
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, kPlain)), text);
}

TEST(ByteLevel, PassesOverBytesThatTheVocabularyLacks) {
  Metadata data = byte_level("gpt-2");
  data.lists["tokens"][0xFE] = "[unused]";
  data.ids["unknown_token_id"] = 258;  // a control token, as SmolLM2's
  EXPECT_THAT(make(data)->encode("a\xFE"
                                 "b",
                                 kPlain),
              ElementsAre('a', 'b'));
}

TEST(ByteLevel, SplitsAsItsPreTokenizerSays) {
  // A merge across the split must not happen: "3" and "4" would be one token in one word.
  Metadata data = byte_level("llama-bpe");
  data.lists["tokens"].emplace_back("34");
  data.ints["token_type"].push_back(1);
  data.lists["merges"].emplace_back("3 4");
  EXPECT_THAT(make(data)->encode("1234567!!  x", kPlain),
              ElementsAre('1', '2', '3', '4', '5', '6', '7', '!', '!', ' ', ' ', 'x'));
  data.strings["pre"] = "gpt-2";
  EXPECT_THAT(make(data)->encode("1234", kPlain), ElementsAre('1', '2', 261));
  data.strings["pre"] = "smollm";
  EXPECT_THAT(make(data)->encode("1234", kPlain), ElementsAre('1', '2', '3', '4'));
}

TEST(ControlTokens, ComeFromTextOnlyWhenAllowed) {
  const auto tokenizer = make(byte_level("llama-bpe"));  // ignore_merges: whole words are looked up
  EXPECT_THAT(tokenizer->encode("<s>", kParsed), ElementsAre(258));
  EXPECT_THAT(tokenizer->encode("<s>", kPlain), ElementsAre('<', 's', '>'));
  EXPECT_THAT(tokenizer->encode("a<s>xb[T]", kParsed), ElementsAre('a', 259, 'b', 260))
      << "the longest";
  EXPECT_THAT(tokenizer->encode("[T]", kPlain), ElementsAre(260)) << "user-defined: always";
  EXPECT_THAT(tokenizer->encode("a"), ElementsAre(258, 'a')) << "Llama 3 wants its first token";
}

TEST(ControlTokens, AreNotMadeByMerges) {
  Metadata data = byte_level("gpt-2");
  data.lists["merges"] = {"s >", "< s>"};
  data.lists["tokens"].emplace_back("s>");
  data.ints["token_type"].push_back(1);
  TokenizerData whole = tokenizer_data_from_gguf(data);
  whole.splitter.clear();  // all of it is one word
  EXPECT_THAT(make_tokenizer(std::move(whole))->encode("<s>", kPlain), ElementsAre('<', 261));
}

TEST(Pieces, MergeByScoreWithOneMarkerAtEachBoundary) {
  const auto tokenizer = make(pieces());
  EXPECT_THAT(tokenizer->encode("ab"), ElementsAre(1, 9, 7)) << "the better score first";
  EXPECT_THAT(tokenizer->encode("a<s> b", kParsed), ElementsAre(9, 1, 5, 5, 7));
  EXPECT_THAT(tokenizer->encode("<s>G", kParsed), ElementsAre(1, 5, 10));
  EXPECT_THAT(tokenizer->encode("<s>", kPlain), ElementsAre(5, 11, 12, 13));
  EXPECT_THAT(tokenizer->encode("\xC3\xB6", kPlain), ElementsAre(5, 3, 4)) << "byte tokens";
  EXPECT_THAT(tokenizer->encode("zz", kPlain), ElementsAre(5, 0)) << "unknown ones are fused";
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(" ab \xC3\xB6")), " ab \xC3\xB6");
}

TEST(Pieces, TakeTheTimeOfASort) {
  // A word of 1 MiB: quadratic work would take hours.
  const auto tokenizer = make(pieces());
  const std::string word(1 << 20, 'a');
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(tokenizer->encode(word, kPlain).size(), word.size());
  const auto ids = make(byte_level("gpt-2"))->encode(std::string(1 << 20, ' ') + "ab", kPlain);
  EXPECT_EQ(ids.size(), (1U << 20) + 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(Ids, OutOfRangeAreNamed) {
  const auto tokenizer = make(pieces());
  EXPECT_THAT(error_of([&] { static_cast<void>(tokenizer->piece(14)); }), HasSubstr("14"));
  const std::vector<std::int32_t> ids{6, -1};
  EXPECT_THAT(error_of([&] { static_cast<void>(tokenizer->decode(ids)); }), HasSubstr("-1"));
  EXPECT_EQ(tokenizer->find("</s>"), 2);
  EXPECT_EQ(tokenizer->find("nothing"), -1);
}

TEST(StreamDecoder, HoldsBackWhatMayBecomeACharacter) {
  const auto tokenizer = make(byte_level("gpt-2"));
  StreamDecoder decoder(*tokenizer);
  EXPECT_EQ(decoder.push(0xF0), "");
  EXPECT_EQ(decoder.push(0x9F), "");
  EXPECT_EQ(decoder.push(0xA6), "");
  EXPECT_EQ(decoder.push(0x99), "\xF0\x9F\xA6\x99");
  EXPECT_EQ(decoder.push(258), "") << "control tokens are left out";
  EXPECT_EQ(decoder.push(0xC3), "");
  EXPECT_EQ(decoder.push('x'), "\xEF\xBF\xBDx") << "can become nothing any more";
  EXPECT_EQ(decoder.push(0xE2), "");
  EXPECT_EQ(decoder.finish(), "\xEF\xBF\xBD");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(TokenizerData, IsChecked) {
  const auto fails = [](auto change) {
    TokenizerData data = tokenizer_data_from_gguf(pieces());
    change(data);
    return error_of([&] { make_tokenizer(std::move(data)); });
  };
  EXPECT_THAT(fails([](auto& d) { d.tokens.clear(); }), HasSubstr("0 tokens"));
  EXPECT_THAT(fails([](auto& d) { d.scores.pop_back(); }), HasSubstr("13 scores for 14 tokens"));
  EXPECT_THAT(fails([](auto& d) { d.bos_id = 14; }), HasSubstr("bos_id is 14"));
  EXPECT_THAT(fails([](auto& d) { d.eos_id = -2; }), HasSubstr("eos_id is -2"));
  EXPECT_THAT(fails([](auto& d) { d.types[3] = TokenType{9}; }), HasSubstr("type 9"));
  EXPECT_THAT(fails([](auto& d) { d.merges = {{"a", "zz"}}; }), HasSubstr("'zz' is no token"));
  EXPECT_THAT(fails([](auto& d) { d.splitter = {{SplitStep::Kind::regex, {}, "(a"}}; }),
              HasSubstr("does not compile"));
  EXPECT_EQ(fails([](auto&) {}), "no error");
}

TEST(Gguf, NamesTheKeyThatIsWrong) {
  Metadata data = byte_level("gpt-5");
  EXPECT_THAT(error_of([&] { make(data); }), HasSubstr("unknown pre-tokenizer 'gpt-5'"));
  data = byte_level("gpt-2");
  data.lists["merges"].emplace_back("ab");
  EXPECT_THAT(error_of([&] { make(data); }), HasSubstr("tokenizer.ggml.merges: 'ab'"));
  data.lists.erase("merges");
  EXPECT_THAT(error_of([&] { make(data); }), HasSubstr("lacks tokenizer.ggml.merges"));
  data.strings["model"] = "bert";
  EXPECT_THAT(error_of([&] { make(data); }), HasSubstr("tokenizer.ggml.model 'bert'"));
}

TEST(Patterns, ThatExplodeAreStopped) {
  TokenizerData data = tokenizer_data_from_gguf(byte_level("gpt-2"));
  data.splitter = {{.kind = SplitStep::Kind::regex, .pattern = "(a+)+$"}};
  const auto tokenizer = make_tokenizer(std::move(data));
  EXPECT_THAT(error_of([&] { static_cast<void>(tokenizer->encode(std::string(5000, 'a') + "b")); }),
              HasSubstr("match limit"));
}

TEST(TokenizerJson, NamesWhatItDoesNotRead) {
  const auto fails = [](const std::string& text) {
    return error_of([&] { tokenizer_data_from_json(text); });
  };
  EXPECT_THAT(fails("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(fails(R"({"model": {"type": "WordPiece", "vocab": {}}})"), HasSubstr("WordPiece"));
  EXPECT_THAT(fails(R"({"model": {"vocab": {"a": -1}, "merges": []}})"), HasSubstr("['a'] is -1"));
  EXPECT_THAT(fails(R"({"model": {"vocab": {"a": 2000000000}, "merges": []}})"),
              HasSubstr("id 2000000000"));
  EXPECT_THAT(
      fails(R"({"model": {"vocab": {"a": 0}, "merges": []}, "normalizer": {"type": "NFKD"}})"),
      HasSubstr("normalizer: unknown type 'NFKD'"));
  EXPECT_THAT(fails(R"({"model": {"vocab": {"a": 0}, "merges": [], "dropout": 0.1}})"),
              HasSubstr("model.dropout"));
}

TEST(TokenizerJson, ReadsTheConfigBesideIt) {
  const TestFolder folder;
  write_text(folder.file("tokenizer.json"),
             R"({"model": {"vocab": {"a": 0, "</s>": 1}, "merges": []},
                 "added_tokens": [{"id": 1, "content": "</s>", "special": true}]})");
  write_text(folder.file("tokenizer_config.json"),
             R"({"eos_token": {"content": "</s>"}, "chat_template": "{{ messages }}"})");
  const TokenizerData data = load_tokenizer_json(folder.file("tokenizer.json"));
  EXPECT_EQ(data.eos_id, 1);
  EXPECT_EQ(data.types[1], TokenType::control);
  EXPECT_EQ(data.chat_template, "{{ messages }}");
  EXPECT_THAT(error_of([&] { load_tokenizer_json(folder.file("none.json")); }),
              HasSubstr("none.json"));
}

TEST(Nfc, ComposesAndOrders) {
  EXPECT_EQ(nfc("e\xCC\x81"), "\xC3\xA9");
  EXPECT_EQ(nfc("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB"), "\xED\x95\x9C") << "Hangul";
  EXPECT_EQ(nfc("\xE2\x84\xAB"), "\xC3\x85") << "a singleton";
  EXPECT_EQ(nfc("a\xCC\x81\xCC\xA3"), "\xE1\xBA\xA1\xCC\x81") << "marks in order";
  EXPECT_EQ(nfc("e\xFF\xCC\x81"), "e\xFF\xCC\x81") << "bytes that are no text join nothing";
}

}  // namespace
}  // namespace rooftile
