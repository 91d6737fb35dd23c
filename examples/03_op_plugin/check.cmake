# SPDX-License-Identifier: Apache-2.0
plugin_is_good("${BUILD}/libaxpby${SUFFIX}" axpby cpu_blocks "n=65536")
rooftile(0 EXPECT axpby ARGS list ops --plugin "${BUILD}/libaxpby${SUFFIX}")
