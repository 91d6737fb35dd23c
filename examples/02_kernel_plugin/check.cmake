# SPDX-License-Identifier: Apache-2.0
plugin_is_good("${BUILD}/libmy_kernel${SUFFIX}" rmsnorm cpu_mine "rows=64;cols=512;x=f32")
