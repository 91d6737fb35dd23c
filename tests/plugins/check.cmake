# SPDX-License-Identifier: Apache-2.0
run("${BUILD}/load_all" "${BUILD}" "${SUFFIX}")
rooftile(1 EXPECT "cpu_faulty" ARGS verify softmax/cpu_faulty --plugin "${BUILD}/wrong_kernel${SUFFIX}")
foreach(fault IN ITEMS "missing|no such file" "text|not a shared object" "no_entry|exports neither"
        "other_contract|contract version 999" "null_run|function run is NULL")
  string(REPLACE "|" ";" fault "${fault}")
  list(GET fault 0 file)
  list(GET fault 1 reason)
  rooftile(2 EXPECT "${file}" "${reason}" ARGS verify softmax --plugin "${BUILD}/${file}${SUFFIX}")
endforeach()
