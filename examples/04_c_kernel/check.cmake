# SPDX-License-Identifier: Apache-2.0
plugin_is_good("${BUILD}/libc_kernel${SUFFIX}" softmax cpu_c "rows=64;cols=512;x=f32")
