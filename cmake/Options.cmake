# SPDX-License-Identifier: Apache-2.0
# Switches, compiler settings and optional dependencies. Each optional part is AUTO (used when found),
# ON (an error when missing) or OFF; Summary.cmake prints what came of it.
include(GNUInstallDirs)

option(ROOFTILE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(ROOFTILE_WERROR "Warnings are errors" OFF)
option(ROOFTILE_HEADER_TESTS "Compile every header alone" OFF)
set(ROOFTILE_SANITIZE "" CACHE STRING "Sanitizers, as address,undefined or thread")

# Why -O2: -O3 takes twice as long to compile and unrolls loops that are written as wide as they
# should be.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Why -ffp-contract=off: fused multiply-adds are written as such, so that the bits are the source's.
add_library(rooftile_settings INTERFACE)
target_compile_options(rooftile_settings INTERFACE -Wall -Wextra -Wshadow -Wpedantic
                       -ffp-contract=off $<$<BOOL:${ROOFTILE_WERROR}>:-Werror>)
# Why: GCC 12 warns wrongly of overlaps when std::string literals are added (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(rooftile_settings INTERFACE -Wno-restrict)
endif()
target_include_directories(rooftile_settings INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(rooftile_settings INTERFACE FMT_HEADER_ONLY
                           ROOFTILE_VERSION="${PROJECT_VERSION}")
# Why no recovery: a test in which undefined behaviour is only reported would pass.
if(ROOFTILE_SANITIZE)
  target_compile_options(rooftile_settings INTERFACE -fsanitize=${ROOFTILE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(rooftile_settings INTERFACE -fsanitize=${ROOFTILE_SANITIZE})
endif()

find_program(ROOFTILE_CCACHE ccache)
if(ROOFTILE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ROOFTILE_CCACHE}")
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_path(ROOFTILE_FMT_INCLUDE fmt/format.h REQUIRED)
find_path(ROOFTILE_JSON_INCLUDE nlohmann/json.hpp REQUIRED)
target_include_directories(rooftile_settings SYSTEM INTERFACE "${ROOFTILE_FMT_INCLUDE}"
                           "${ROOFTILE_JSON_INCLUDE}")
target_link_libraries(rooftile_settings INTERFACE Threads::Threads ${CMAKE_DL_LIBS})

# The regular expressions of tokenizers. Why the static library first: programs then run where the
# shared one is not installed.
find_path(ROOFTILE_PCRE2_INCLUDE pcre2.h)
find_library(ROOFTILE_PCRE2_LIBRARY NAMES libpcre2-8.a pcre2-8)
if(NOT ROOFTILE_PCRE2_INCLUDE OR NOT ROOFTILE_PCRE2_LIBRARY)
  message(FATAL_ERROR "PCRE2 (8-bit) was not found: tokenizers need it. On Debian: libpcre2-dev")
endif()

# rooftile_optional(NAME header reason): an optional dependency that is one header to us, since its
# library is loaded at run time. Sets ROOFTILE_HAS_<NAME> and a line for the summary.
set(ROOFTILE_SUMMARY "" CACHE INTERNAL "")
function(rooftile_optional name header what)
  set(ROOFTILE_WITH_${name} AUTO CACHE STRING "${what}: AUTO, ON or OFF")
  set(found FALSE)
  set(line "✗ ${name}: ${what} (off: ROOFTILE_WITH_${name}=OFF)")
  if(NOT ROOFTILE_WITH_${name} STREQUAL "OFF")
    find_path(ROOFTILE_${name}_INCLUDE ${header} PATHS /usr/local/cuda/include)
    if(ROOFTILE_${name}_INCLUDE)
      set(found TRUE)
      set(line "✓ ${name}: ${what} (${ROOFTILE_${name}_INCLUDE}/${header})")
      target_include_directories(rooftile_settings SYSTEM INTERFACE "${ROOFTILE_${name}_INCLUDE}")
    elseif(ROOFTILE_WITH_${name} STREQUAL "ON")
      message(FATAL_ERROR "ROOFTILE_WITH_${name}=ON, but ${header} was not found")
    else()
      set(line "✗ ${name}: ${what} (${header} not found)")
    endif()
  endif()
  target_compile_definitions(rooftile_settings INTERFACE ROOFTILE_WITH_${name}=$<BOOL:${found}>)
  set(ROOFTILE_SUMMARY "${ROOFTILE_SUMMARY};${line}" CACHE INTERNAL "")
  set(ROOFTILE_HAS_${name} ${found} PARENT_SCOPE)
endfunction()

include(Nvcc)
set(mark "✗")
if(ROOFTILE_HAS_CUDA)
  set(mark "✓")
endif()
set(ROOFTILE_SUMMARY "${ROOFTILE_SUMMARY};${mark} CUDA: kernels for NVIDIA GPUs (${ROOFTILE_CUDA_STATUS})"
    CACHE INTERNAL "")

rooftile_optional(ONEDNN oneapi/dnnl/dnnl.h "vendor GEMM on CPUs")
