# SPDX-License-Identifier: Apache-2.0
# Run by ctest for one project: -DSOURCE= the project, -DBUILD= its build folder, -DPREFIX= where the
# package is installed, -DCACHE= a folder for measurements, -DSUFFIX= of a plugin's file, -DCC= -DCXX=
# -DFLAGS= -DBUILD_TYPE= -DLAUNCHER=. What is checked after the build stands in SOURCE/check.cmake.
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit status ${status}")
  endif()
endfunction()

# rooftile(STATUS [EXPECT regex...] ARGS arg...): runs the installed program, which must end with
# STATUS (a regex) and say (on stdout or stderr) what each regex of EXPECT matches.
function(rooftile status)
  cmake_parse_arguments(ARG "" "" "EXPECT;ARGS" ${ARGN})
  execute_process(COMMAND "${PREFIX}/bin/rooftile" ${ARG_ARGS} COMMAND_ECHO STDOUT
                  RESULT_VARIABLE got OUTPUT_VARIABLE text ERROR_VARIABLE text)
  message("${text}")
  if(NOT got MATCHES "^(${status})$")
    message(FATAL_ERROR "exit status ${got}, expected ${status}")
  endif()
  foreach(regex IN LISTS ARG_EXPECT)
    if(NOT text MATCHES "${regex}")
      message(FATAL_ERROR "the output has nothing like: ${regex}")
    endif()
  endforeach()
endfunction()

# plugin_is_good(FILE OP KERNEL PROBLEM): verified on all its cases, and a benchmark of PROBLEM gives a
# record. Why it may be invalid, with status 1: a busy machine measures ceilings that are too low.
function(plugin_is_good file op kernel problem)
  rooftile(0 EXPECT "${kernel}" ARGS verify ${op}/${kernel} --plugin "${file}")
  set(records "${BUILD}/records.json")
  rooftile("0|1" EXPECT "${kernel}" ARGS bench ${op}/${kernel} ${problem} --plugin "${file}"
           --json "${records}")
  file(READ "${records}" json)
  string(JSON got GET "${json}" records 0 kernel)
  string(JSON status GET "${json}" records 0 status)
  if(NOT got STREQUAL "${op}/${kernel}" OR NOT status MATCHES "^(passed|invalid)$")
    message(FATAL_ERROR "the record is of ${got}: ${status}")
  endif()
endfunction()

set(ENV{ROOFTILE_CACHE} "${CACHE}")
file(REMOVE_RECURSE "${BUILD}")
run(${CMAKE_COMMAND} -G Ninja -S "${SOURCE}" -B "${BUILD}" "-DCMAKE_PREFIX_PATH=${PREFIX}"
    "-DCMAKE_C_COMPILER=${CC}" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}"
    "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror ${FLAGS}" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror ${FLAGS}"
    "-DCMAKE_C_COMPILER_LAUNCHER=${LAUNCHER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
    --no-warn-unused-cli)
run(${CMAKE_COMMAND} --build "${BUILD}")
include("${SOURCE}/check.cmake")
