# SPDX-License-Identifier: Apache-2.0
# Finds nvcc and the static CUDA runtime beside it: ROOFTILE_HAS_CUDA, ROOFTILE_NVCC,
# ROOFTILE_CUDA_INCLUDE, ROOFTILE_CUDART, and ROOFTILE_CUDA_STATUS, a few words for a person.
# ROOFTILE_WITH_CUDA is AUTO, ON (an error when missing) or OFF.
# Why not CMake's own language CUDA: it costs seconds at each configure, and CMake 3.25.1 knows no
# C++20 for it.
set(ROOFTILE_WITH_CUDA AUTO CACHE STRING "kernels for NVIDIA GPUs: AUTO, ON or OFF")
set(ROOFTILE_CUDA_ARCHITECTURES "90a" CACHE STRING "what nvcc compiles for, as 90a;100a")
set(ROOFTILE_PORTABLE_ARCHITECTURES "" CACHE STRING
    "the same for the portable kernels, sm80_*.cu; empty: what this nvcc knows of 90, 80, 100 and 120")

# The oldest toolkit that has cudaGetDriverEntryPointByVersion.
set(ROOFTILE_LEAST_CUDA 12.5)

function(rooftile_find_nvcc)
  set(ROOFTILE_HAS_CUDA FALSE PARENT_SCOPE)
  if(ROOFTILE_WITH_CUDA STREQUAL "OFF")
    set(ROOFTILE_CUDA_STATUS "off: ROOFTILE_WITH_CUDA=OFF" PARENT_SCOPE)
    return()
  endif()
  find_program(ROOFTILE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
               PATH_SUFFIXES bin)
  set(status "nvcc not found")
  if(ROOFTILE_NVCC)
    get_filename_component(nvcc "${ROOFTILE_NVCC}" REALPATH)
    get_filename_component(root "${nvcc}/../.." ABSOLUTE)
    find_path(ROOFTILE_CUDA_INCLUDE cuda_runtime_api.h
              HINTS "${root}/include" "${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include")
    find_library(ROOFTILE_CUDART libcudart_static.a
                 HINTS "${root}/lib64" "${root}/lib" "${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib")
    execute_process(COMMAND "${ROOFTILE_NVCC}" --version OUTPUT_VARIABLE text ERROR_QUIET)
    string(REGEX MATCH "release ([0-9.]+)" text "${text}")
    set(version "${CMAKE_MATCH_1}")
    if(NOT ROOFTILE_CUDA_INCLUDE)
      set(status "nvcc, but no cuda_runtime_api.h beside it")
    elseif(NOT ROOFTILE_CUDART)
      set(status "nvcc, but no libcudart_static.a beside it")
    elseif(version VERSION_LESS ROOFTILE_LEAST_CUDA)
      set(status "nvcc ${version} is older than ${ROOFTILE_LEAST_CUDA}")
    else()
      set(ROOFTILE_HAS_CUDA TRUE PARENT_SCOPE)
      if(NOT ROOFTILE_PORTABLE_ARCHITECTURES)
        # The first one's registers are those of the report.
        set(portable 90 80)
        if(version VERSION_GREATER_EQUAL 12.8)
          list(APPEND portable 100 120)
        endif()
        set(ROOFTILE_PORTABLE_ARCHITECTURES "${portable}" PARENT_SCOPE)
      endif()
      set(status "nvcc ${version}, architectures ${ROOFTILE_CUDA_ARCHITECTURES}")
      set(ROOFTILE_CUDA_STATUS "${status}" PARENT_SCOPE)
      return()
    endif()
  endif()
  if(ROOFTILE_WITH_CUDA STREQUAL "ON")
    message(FATAL_ERROR "ROOFTILE_WITH_CUDA=ON, but: ${status}")
  endif()
  set(ROOFTILE_CUDA_STATUS "${status}" PARENT_SCOPE)
endfunction()
rooftile_find_nvcc()
