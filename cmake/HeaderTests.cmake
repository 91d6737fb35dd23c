# SPDX-License-Identifier: Apache-2.0
# With ROOFTILE_HEADER_TESTS, every header is compiled alone: it must include what it needs.
if(ROOFTILE_HEADER_TESTS)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/rooftile/*.h")
  if(NOT ROOFTILE_HAS_CUDA)
    list(FILTER headers EXCLUDE REGEX "/cuda/")
  endif()
  set(units "")
  foreach(header IN LISTS headers)
    string(MAKE_C_IDENTIFIER "${header}" name)
    set(unit "${PROJECT_BINARY_DIR}/header_tests/${name}.cc")
    file(CONFIGURE OUTPUT "${unit}" CONTENT "#include \"${header}\"\n#include \"${header}\"\n")
    list(APPEND units "${unit}")
  endforeach()
  add_library(rooftile_header_tests OBJECT ${units})
  target_link_libraries(rooftile_header_tests PRIVATE rooftile_settings)
  if(ROOFTILE_HAS_CUDA)
    target_include_directories(rooftile_header_tests SYSTEM PRIVATE "${ROOFTILE_CUDA_INCLUDE}")
  endif()
  # Why no -fsyntax-only: without an object, the build would compile all of them again each time.
  target_compile_options(rooftile_header_tests PRIVATE -O0 -g0)
endif()
