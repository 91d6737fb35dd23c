# SPDX-License-Identifier: Apache-2.0
# rooftile_layer(NAME [DEPENDS layer...]): the static library of rooftile/NAME and one test program of
# its *_test.cc and *_test.cu files. Sources are globbed, so that a new kernel is one file and one line
# in a list. What lies in a folder cuda/ needs the CUDA toolkit; sm80_*.cu is compiled for every
# architecture from sm_80 on.
function(rooftile_layer name)
  cmake_parse_arguments(ARG "" "" "DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}"
       "${PROJECT_SOURCE_DIR}/rooftile/${name}/*.cc" "${PROJECT_SOURCE_DIR}/rooftile/${name}/*.cu")
  if(NOT ROOFTILE_HAS_CUDA)
    list(FILTER sources EXCLUDE REGEX "^rooftile/.*/cuda/")
  endif()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.c[cu]$")
  list(FILTER tests INCLUDE REGEX "_test\\.c[cu]$")
  set(kernels ${sources})
  list(FILTER sources EXCLUDE REGEX "\\.cu$")
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  add_library(rooftile_${name} STATIC ${sources})
  target_link_libraries(rooftile_${name} PUBLIC rooftile_settings)
  set(portable ${kernels})
  list(FILTER portable INCLUDE REGEX "/sm80_[^/]*$")
  list(FILTER kernels EXCLUDE REGEX "/sm80_[^/]*$")
  rooftile_add_kernels(rooftile_${name} ${kernels})
  rooftile_add_kernels(rooftile_${name} ${portable} ARCHITECTURES ${ROOFTILE_PORTABLE_ARCHITECTURES})
  foreach(layer IN LISTS ARG_DEPENDS)
    target_link_libraries(rooftile_${name} PUBLIC rooftile_${layer})
  endforeach()
  if(ROOFTILE_BUILD_TESTS AND tests)
    rooftile_test(${name}_test SOURCES ${tests} LINK rooftile_${name})
  endif()
endfunction()

# rooftile_test(NAME SOURCES file... LINK target...): a GoogleTest program, each test known to ctest,
# with NAME as its label.
function(rooftile_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  set(kernels ${ARG_SOURCES})
  list(FILTER ARG_SOURCES EXCLUDE REGEX "\\.cu$")
  list(FILTER kernels INCLUDE REGEX "\\.cu$")
  add_executable(${name} ${ARG_SOURCES})
  rooftile_add_kernels(${name} ${kernels})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE ROOFTILE_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                             ROOFTILE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300 LABELS ${name})
endfunction()

# rooftile_library(layer...): librooftile.so of all layers, the one thing that users link.
function(rooftile_library)
  set(objects "")
  foreach(layer IN LISTS ARGN)
    get_target_property(kernels rooftile_${layer} ROOFTILE_KERNEL_OBJECTS)
    if(kernels)
      list(APPEND objects ${kernels})
    endif()
    list(APPEND objects $<TARGET_OBJECTS:rooftile_${layer}>)
  endforeach()
  add_library(rooftile SHARED ${objects})
  add_library(rooftile::rooftile ALIAS rooftile)
  set_target_properties(rooftile PROPERTIES VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
                        LINKER_LANGUAGE CXX)
  target_link_libraries(rooftile PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  # Why hidden: a program may have a CUDA runtime of its own.
  if(ROOFTILE_HAS_CUDA)
    target_link_libraries(rooftile PRIVATE "${ROOFTILE_CUDART}" rt)
    target_link_options(rooftile PRIVATE -Wl,--exclude-libs,libcudart_static.a)
  endif()
  if(NOT ROOFTILE_SANITIZE)
    target_link_options(rooftile PRIVATE -Wl,--no-undefined)
  endif()
  target_include_directories(rooftile INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(rooftile INTERFACE cxx_std_20)
endfunction()
