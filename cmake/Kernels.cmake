# SPDX-License-Identifier: Apache-2.0
# rooftile_add_kernels(TARGET file.cu... [ARCHITECTURES 90a...]): compiles each file into TARGET up to
# three times, as rooftile/tile/kernel_table.h says: for the simulator, for the host, and with nvcc
# where there is one. It is in the installed package too, for kernels of other projects, whose TARGET
# links rooftile::rooftile. What ptxas says of registers, shared memory and spills is kept beside each
# object of nvcc, in FILE.ptxas.
set(ROOFTILE_NVCC_PASS "${CMAKE_CURRENT_LIST_DIR}/nvcc_pass.cmake")

# The simulator is a runtime for the calls that GCC's thread sanitizer puts before every load and
# store; its own library is not linked. The optimisations that are off merge, split or invent accesses,
# which would not be those of the source; or take it for granted that indices stay within arrays, which
# is checked. Sibling calls would lose the line of a call at a function's end.
set(ROOFTILE_SIM_FLAGS -std=c++20 -O2 -g1 -x c++ -DROOFTILE_SIM_PASS=1
    -fsanitize=thread,bounds,integer-divide-by-zero --param tsan-instrument-func-entry-exit=0 --param tsan-distinguish-volatile=1 -fno-tree-sra -fno-ipa-sra
    -fno-tree-vectorize -fno-tree-slp-vectorize -fno-store-merging -fno-tree-loop-distribute-patterns
    -fno-strict-aliasing -fno-aggressive-loop-optimizations -ffp-contract=off
    -fno-optimize-sibling-calls -fno-stack-protector -fcf-protection=none -fPIC -fno-gnu-unique
    -fvisibility=hidden -Wall -Wextra -Wshadow)

# Why only the table stays global: the linker would take one of an inline function of this pass and the
# same one of a pass without the simulator's calls. Why another name: see device/sim/array_bounds.cc.
set(ROOFTILE_SIM_OBJCOPY_FLAGS --wildcard --keep-global-symbol=*_simulatedv
    --keep-global-symbol=*_simulatedEv
    --redefine-sym __ubsan_handle_out_of_bounds=rooftile_sim_out_of_bounds
    --redefine-sym __ubsan_handle_divrem_overflow=rooftile_sim_divide_by_zero
    --redefine-sym __assert_fail=rooftile_sim_assert_fail)
# What the host computes with other bits than a GPU: see device/sim/host_functions.cc.
foreach(function IN ITEMS exp exp2 exp10 expm1 log log2 log10 log1p pow sin cos tan sincos asin acos
                          atan atan2 sinh cosh tanh asinh acosh atanh erf erfc tgamma lgamma cbrt hypot)
  list(APPEND ROOFTILE_SIM_OBJCOPY_FLAGS --redefine-sym ${function}=rooftile_sim_lacks_${function}
       --redefine-sym ${function}f=rooftile_sim_lacks_${function}f)
endforeach()
foreach(function IN ITEMS fmin fmax)
  list(APPEND ROOFTILE_SIM_OBJCOPY_FLAGS --redefine-sym ${function}=rooftile_sim_${function}
       --redefine-sym ${function}f=rooftile_sim_${function}f)
endforeach()

# Why no fused multiply-adds: as on the host, they are written as such, so that the bits are the
# source's, on the GPU and in the simulator.
set(ROOFTILE_NVCC_FLAGS -std=c++20 --expt-relaxed-constexpr -fmad=false -lineinfo -Xptxas -v
    -Xcompiler -O2,-fPIC,-fvisibility=hidden,-Wall,-Wextra)

# The compiler of the simulator's pass, and of the host's half of nvcc's.
function(rooftile_find_kernel_compiler)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(ROOFTILE_KERNEL_COMPILER "${CMAKE_CXX_COMPILER}" PARENT_SCOPE)
    return()
  endif()
  find_program(ROOFTILE_GXX g++)
  if(NOT ROOFTILE_GXX)
    message(FATAL_ERROR "g++ was not found: .cu files need it")
  endif()
  set(ROOFTILE_KERNEL_COMPILER "${ROOFTILE_GXX}" PARENT_SCOPE)
endfunction()
rooftile_find_kernel_compiler()

# One pass: OBJECT from SOURCE by a compiler, given what TARGET's own sources are given, and into TARGET.
function(rooftile_kernel_pass target source object)
  cmake_parse_arguments(PARSE_ARGV 3 ARG "" "OUTPUT" "COMPILER;THEN")
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  add_custom_command(OUTPUT "${object}"
    COMMAND ${ARG_COMPILER} "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>"
            "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
            -MD -MF "${object}.d" -MT "${object}" -c "${source}" -o "${ARG_OUTPUT}"
            ${ARG_THEN}
    DEPENDS "${source}" "${ROOFTILE_NVCC_PASS}" DEPFILE "${object}.d"
    COMMENT "Building kernels ${object}" VERBATIM COMMAND_EXPAND_LISTS)
  set_source_files_properties("${object}" PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_sources(${target} PRIVATE "${object}")
  # $<TARGET_OBJECTS> leaves out objects that CMake's own rules did not make.
  set_property(TARGET ${target} APPEND PROPERTY ROOFTILE_KERNEL_OBJECTS "${object}")
endfunction()

function(rooftile_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "ARCHITECTURES")
  if(NOT ARG_UNPARSED_ARGUMENTS)
    return()
  endif()
  if(NOT ARG_ARCHITECTURES)
    set(ARG_ARCHITECTURES ${ROOFTILE_CUDA_ARCHITECTURES})
  endif()
  list(TRANSFORM ARG_ARCHITECTURES REPLACE "(.+)" "-gencode=arch=compute_\\1,code=sm_\\1"
       OUTPUT_VARIABLE generate)
  set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
  foreach(file IN LISTS ARG_UNPARSED_ARGUMENTS)
    get_filename_component(file "${file}" ABSOLUTE)
    file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}" "${file}")
    string(REPLACE "../" "up/" name "${name}")
    set(object "${CMAKE_CURRENT_BINARY_DIR}/kernels/${target}/${name}")
    get_filename_component(folder "${object}" DIRECTORY)
    file(MAKE_DIRECTORY "${folder}")
    rooftile_kernel_pass(${target} "${file}" "${object}.sim.o" OUTPUT "${object}.sim_all.o"
      COMPILER ${launcher} "${ROOFTILE_KERNEL_COMPILER}" ${ROOFTILE_SIM_FLAGS}
               "$<$<BOOL:${ROOFTILE_WERROR}>:-Werror>"
      THEN COMMAND "${ROOFTILE_KERNEL_COMPILER}" -r -nostdlib -Wl,--force-group-allocation
                   "${object}.sim_all.o" -o "${object}.sim.o"
           COMMAND "${CMAKE_OBJCOPY}" ${ROOFTILE_SIM_OBJCOPY_FLAGS} "${object}.sim.o")
    target_sources(${target} PRIVATE "${file}")
    set_source_files_properties("${file}" PROPERTIES LANGUAGE CXX)
    if(ROOFTILE_HAS_CUDA)
      set_source_files_properties("${file}" PROPERTIES COMPILE_DEFINITIONS
        "ROOFTILE_CUDA_PASS=1;ROOFTILE_PTXAS_REPORT=\"${object}.ptxas\"")
      rooftile_kernel_pass(${target} "${file}" "${object}.cuda.o" OUTPUT "${object}.cuda.o"
        COMPILER "${CMAKE_COMMAND}" "-DREPORT=${object}.ptxas" -P "${ROOFTILE_NVCC_PASS}" -- ${launcher}
                 "${ROOFTILE_NVCC}" -ccbin "${ROOFTILE_KERNEL_COMPILER}" ${ROOFTILE_NVCC_FLAGS}
                 ${generate} "$<$<BOOL:${ROOFTILE_WERROR}>:-Werror=all-warnings>")
    endif()
  endforeach()
  if(ROOFTILE_HAS_CUDA)
    target_link_libraries(${target} PRIVATE "${ROOFTILE_CUDART}" rt dl pthread)
  endif()
endfunction()
