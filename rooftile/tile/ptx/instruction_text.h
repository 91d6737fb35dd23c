// SPDX-License-Identifier: Apache-2.0
// Names of PTX instructions put together at compile time, for the "C" constraint of inline assembly
// (Inline PTX Assembly in CUDA, "Constraints"). So an instruction with many types and shapes is
// written once for each count of registers.
#pragma once

namespace rooftile {

struct InstructionText {
  char chars[64] = {};
  int length = 0;
  constexpr InstructionText& add(const char* text) {
    for (; *text != 0; ++text) chars[length++] = *text;
    return *this;
  }
  constexpr InstructionText& add(int number) {
    if (number < 0) return add("-").add(-number);
    if (number >= 10) add(number / 10);
    chars[length++] = static_cast<char>('0' + number % 10);
    return *this;
  }
};

/// An array of const char, which is what the constraint takes.
template <class Text, int... i>
struct InstructionChars {
  static constexpr char chars[] = {Text::kText.chars[i]..., 0};
};

template <class Text, int kLength = Text::kText.length, int... i>
struct MakeInstructionChars : MakeInstructionChars<Text, kLength - 1, kLength - 1, i...> {};
template <class Text, int... i>
struct MakeInstructionChars<Text, 0, i...> : InstructionChars<Text, i...> {};

}  // namespace rooftile
