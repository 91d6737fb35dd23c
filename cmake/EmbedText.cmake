# SPDX-License-Identifier: Apache-2.0
# rooftile_embed(TARGET OUTPUT file...): a header of raw string constants from text files, so that what
# the program prints is the file itself. `docs/cli/verify.md` becomes `embedded::verify`.
function(rooftile_embed target output)
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed.cmake")
  set(header "${PROJECT_BINARY_DIR}/generated/${output}")
  string(REPLACE ";" "|" files "${ARGN}")
  add_custom_command(OUTPUT "${header}"
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${header}" "-DFILES=${files}" -P "${script}"
    DEPENDS ${ARGN} "${script}" VERBATIM)
  target_sources(${target} PRIVATE "${header}")
  target_include_directories(${target} PRIVATE "${PROJECT_BINARY_DIR}/generated")
endfunction()
