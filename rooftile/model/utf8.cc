// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/utf8.h"

namespace rooftile {
namespace {

constexpr unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// Bytes of the character that `lead` starts; 0 when it starts none.
std::size_t size_from_lead(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;  // a continuation, or overlong
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

// The second byte is where overlong forms, surrogates and what is past U+10FFFF show.
bool is_second(unsigned char lead, unsigned char second) {
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned greatest = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return second >= least && second <= greatest;
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  const unsigned char lead = byte_at(text, at);
  const std::size_t size = size_from_lead(lead);
  if (size == 0) return {lead, 1, Utf8::invalid};
  char32_t value = size == 1 ? lead : lead & (0xFFU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if (at + i == text.size()) return {lead, i, Utf8::incomplete};
    const unsigned char next = byte_at(text, at + i);
    if (i == 1 ? !is_second(lead, next) : (next & 0xC0U) != 0x80) return {lead, i, Utf8::invalid};
    value = (value << 6) | (next & 0x3FU);
  }
  return {value, size, Utf8::valid};
}

void append_utf8(std::string& text, char32_t value) {
  const auto add = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (value < 0x80) return add(value);
  if (value < 0x800) {
    add(0xC0 | (value >> 6));
  } else if (value < 0x10000) {
    add(0xE0 | (value >> 12));
    add(0x80 | ((value >> 6) & 0x3F));
  } else {
    add(0xF0 | (value >> 18));
    add(0x80 | ((value >> 12) & 0x3F));
    add(0x80 | ((value >> 6) & 0x3F));
  }
  add(0x80 | (value & 0x3F));
}

std::size_t valid_run(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  while (at < text.size()) {
    const CodePoint point = code_point_at(text, at);
    if (point.status != Utf8::valid) break;
    at += point.size;
  }
  return at - begin;
}

std::size_t invalid_run(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  while (at < text.size()) {
    const CodePoint point = code_point_at(text, at);
    if (point.status == Utf8::valid) break;
    at += point.size;
  }
  return at - begin;
}

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

}  // namespace rooftile
