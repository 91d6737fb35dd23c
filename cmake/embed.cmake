# SPDX-License-Identifier: Apache-2.0
# Run by EmbedText.cmake: writes OUTPUT from FILES (separated by '|').
string(REPLACE "|" ";" FILES "${FILES}")
set(text "// Generated from text files by cmake/embed.cmake.\n#pragma once\n#include <string_view>\n")
string(APPEND text "namespace rooftile::embedded {\n")
foreach(file IN LISTS FILES)
  get_filename_component(name "${file}" NAME_WE)
  file(READ "${file}" content)
  # A string literal may hold at most 65,536 characters by the standard: fail early, not oddly.
  string(LENGTH "${content}" length)
  if(length GREATER 60000)
    message(FATAL_ERROR "${file} is too long to embed")
  endif()
  string(APPEND text "inline constexpr std::string_view ${name} = R\"embed(${content})embed\";\n")
endforeach()
string(APPEND text "}  // namespace rooftile::embedded\n")
file(WRITE "${OUTPUT}" "${text}")
