// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/byte_alphabet.h"

#include <array>

#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

constexpr int kLetters = 256 + 68;

struct Alphabet {
  std::array<char32_t, 256> letter{};  // of a byte
  std::array<int, kLetters> byte{};    // of a letter, or -1
};

constexpr bool stands_for_itself(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
}

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte.fill(-1);
  char32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t letter = stands_for_itself(byte) ? static_cast<char32_t>(byte) : next++;
    alphabet.letter[static_cast<std::size_t>(byte)] = letter;
    alphabet.byte[letter] = byte;
  }
  return alphabet;
}

constexpr Alphabet kAlphabet = make_alphabet();

}  // namespace

std::optional<std::string> bytes_from_alphabet(std::string_view token) {
  std::string bytes;
  for (std::size_t at = 0; at < token.size();) {
    const CodePoint point = code_point_at(token, at);
    if (point.status != Utf8::valid || point.value >= kLetters) return std::nullopt;
    const int byte = kAlphabet.byte[point.value];
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
    at += point.size;
  }
  return bytes;
}

std::string alphabet_from_bytes(std::string_view bytes) {
  std::string token;
  for (const char byte : bytes)
    append_utf8(token, kAlphabet.letter[static_cast<unsigned char>(byte)]);
  return token;
}

}  // namespace rooftile
