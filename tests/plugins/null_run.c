// SPDX-License-Identifier: Apache-2.0
// A plugin in C that leaves out a function.
#include <rooftile/op/c_plugin.h>

static int supports(const RooftileCProblem* problem, char* reason, size_t reason_bytes) {
  (void)problem, (void)reason, (void)reason_bytes;
  return 0;
}

static const RooftileCKernel kernel = {.size = sizeof(RooftileCKernel),
                                       .op = "softmax",
                                       .name = "cpu_null",
                                       .idea = "none",
                                       .target = "cpu",
                                       .supports = supports};
static const RooftileCKernel* const kernels[] = {&kernel};
static const RooftileCPlugin plugin = {.size = sizeof(RooftileCPlugin),
                                       .version = ROOFTILE_C_PLUGIN_VERSION,
                                       .num_kernels = 1,
                                       .kernels = kernels};

const RooftileCPlugin* rooftile_c_plugin(void) { return &plugin; }
