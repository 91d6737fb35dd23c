# SPDX-License-Identifier: Apache-2.0
# Whether the Python module is built: ROOFTILE_BUILD_PYTHON is AUTO (where the Python of .venv, or
# Python_EXECUTABLE, has its headers and nanobind), ON (an error when missing) or OFF.
set(ROOFTILE_BUILD_PYTHON AUTO CACHE STRING "the Python module: AUTO, ON or OFF")

function(rooftile_find_python)
  set(ROOFTILE_HAS_PYTHON FALSE PARENT_SCOPE)
  set(line "✗ Python module (off: ROOFTILE_BUILD_PYTHON=OFF)")
  if(NOT ROOFTILE_BUILD_PYTHON STREQUAL "OFF" AND NOT ROOFTILE_SANITIZE)
    if(NOT Python_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
      set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "")
    endif()
    find_package(Python 3.9 COMPONENTS Interpreter Development.Module QUIET)
    set(line "✗ Python module (no Python 3.9 with headers: python3-dev)")
    if(Python_FOUND)
      execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir OUTPUT_VARIABLE found
                      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      set(line "✗ Python module (${Python_EXECUTABLE} has no nanobind)")
      if(found)
        set(nanobind_ROOT "${found}" PARENT_SCOPE)
        set(ROOFTILE_HAS_PYTHON TRUE PARENT_SCOPE)
        set(line "✓ Python module (Python ${Python_VERSION})")
      endif()
    endif()
  endif()
  if(ROOFTILE_BUILD_PYTHON STREQUAL "ON" AND line MATCHES "^✗")
    message(FATAL_ERROR "ROOFTILE_BUILD_PYTHON=ON, but: ${line}")
  endif()
  set(ROOFTILE_SUMMARY "${ROOFTILE_SUMMARY};${line}" CACHE INTERNAL "")
endfunction()
rooftile_find_python()

if(ROOFTILE_HAS_PYTHON)
  # Again, here: what it finds is seen by the folder that builds the module.
  find_package(Python 3.9 REQUIRED COMPONENTS Interpreter Development.Module)
  find_package(nanobind CONFIG REQUIRED)
  add_subdirectory(python)
endif()
