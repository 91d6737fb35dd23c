# SPDX-License-Identifier: Apache-2.0
# One step of the test of the installed package, run by ctest: -DSTEP=install|find_package|pkg_config|
# program, -DBUILD= build to install, -DWORK= scratch folder, -DSOURCE= this folder, -DCXX= -DCXXFLAGS=.
set(prefix "${WORK}/prefix")

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "exit status ${status}")
  endif()
endfunction()

if(STEP STREQUAL "install")
  file(REMOVE_RECURSE "${WORK}")
  run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${prefix}")

elseif(STEP STREQUAL "find_package")
  run(${CMAKE_COMMAND} -G Ninja -S "${SOURCE}" -B "${WORK}/build" "-DCMAKE_PREFIX_PATH=${prefix}"
      "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXXFLAGS}")
  run(${CMAKE_COMMAND} --build "${WORK}/build")
  run("${WORK}/build/consumer")
  # Why not under a sanitizer: the simulator is one itself.
  if(NOT CXXFLAGS)
    run("${WORK}/build/own_kernel")
    # Stripped, it must be refused and not be said to have faults.
    run(strip -o "${WORK}/stripped" "${WORK}/build/own_kernel")
    execute_process(COMMAND "${WORK}/stripped" OUTPUT_VARIABLE said RESULT_VARIABLE status)
    if(status EQUAL 0 OR NOT said MATCHES "stripped was stripped of its symbols")
      message(FATAL_ERROR "a stripped program says: ${said}")
    endif()
  endif()

elseif(STEP STREQUAL "pkg_config")
  find_program(PKG_CONFIG NAMES pkgconf pkg-config)
  if(NOT PKG_CONFIG)
    message("SKIPPED: no pkg-config here")
    return()
  endif()
  set(ENV{PKG_CONFIG_PATH} "${prefix}/${LIBDIR}/pkgconfig")
  execute_process(COMMAND "${PKG_CONFIG}" --cflags --libs rooftile OUTPUT_VARIABLE flags
                  COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  separate_arguments(CXXFLAGS UNIX_COMMAND "${CXXFLAGS}")
  run("${CXX}" ${CXXFLAGS} "${SOURCE}/main.cc" -o "${WORK}/by_pkg_config" ${flags})
  set(ENV{LD_LIBRARY_PATH} "${prefix}/${LIBDIR}")
  run("${WORK}/by_pkg_config")

elseif(STEP STREQUAL "program")
  if(NOT EXISTS "${prefix}/bin/rooftile")
    message("SKIPPED: this build has no program")
    return()
  endif()
  run("${prefix}/bin/rooftile" --version)

else()
  message(FATAL_ERROR "no such step: ${STEP}")
endif()
