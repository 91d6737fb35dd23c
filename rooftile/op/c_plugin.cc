// SPDX-License-Identifier: Apache-2.0
// What a plugin in C offers, checked field by field: nothing of it is trusted before.
#include "rooftile/op/c_plugin.h"

#include <cstring>
#include <string>
#include <vector>

#include "rooftile/base/error.h"
#include "rooftile/op/c_kernel.h"

namespace rooftile {
namespace {

constexpr std::size_t kMostBytes = 4096;  // of a struct: more is no size but garbage
constexpr std::size_t kMostName = 64;
constexpr std::size_t kMostText = 1024;
constexpr std::uint32_t kMostKernels = 1024;

static_assert(ROOFTILE_F64 == int(DType::f64) && ROOFTILE_F32 == int(DType::f32) &&
              ROOFTILE_FP16 == int(DType::fp16) && ROOFTILE_BF16 == int(DType::bf16) &&
              ROOFTILE_E4M3 == int(DType::e4m3) && ROOFTILE_E5M2 == int(DType::e5m2) &&
              ROOFTILE_E4M3FNUZ == int(DType::e4m3fnuz) &&
              ROOFTILE_E5M2FNUZ == int(DType::e5m2fnuz) && ROOFTILE_E3M2 == int(DType::e3m2) &&
              ROOFTILE_E2M3 == int(DType::e2m3) && ROOFTILE_E2M1 == int(DType::e2m1) &&
              ROOFTILE_E8M0 == int(DType::e8m0) && ROOFTILE_I64 == int(DType::i64) &&
              ROOFTILE_I32 == int(DType::i32) && ROOFTILE_I16 == int(DType::i16) &&
              ROOFTILE_I8 == int(DType::i8) && ROOFTILE_U8 == int(DType::u8) &&
              ROOFTILE_I4 == int(DType::i4) && ROOFTILE_U4 == int(DType::u4) &&
              ROOFTILE_Q4_0 == int(DType::q4_0) && ROOFTILE_Q4_1 == int(DType::q4_1) &&
              ROOFTILE_Q5_0 == int(DType::q5_0) && ROOFTILE_Q5_1 == int(DType::q5_1) &&
              ROOFTILE_Q8_0 == int(DType::q8_0) && ROOFTILE_Q2_K == int(DType::q2_k) &&
              ROOFTILE_Q3_K == int(DType::q3_k) && ROOFTILE_Q4_K == int(DType::q4_k) &&
              ROOFTILE_Q5_K == int(DType::q5_k) && ROOFTILE_Q6_K == int(DType::q6_k));
static_assert(ROOFTILE_ANY == int(Determinism::any) &&
              ROOFTILE_REPEATABLE == int(Determinism::repeatable) &&
              ROOFTILE_BATCH_INVARIANT == int(Determinism::batch_invariant));

void check_size(const std::string& what, std::size_t given, std::size_t least) {
  if (given < least || given > kMostBytes)
    fail_input(what + ".size is " + std::to_string(given) + ", expected at least " +
               std::to_string(least) + ": is it set to sizeof?");
}

std::string checked_text(const std::string& what, const char* text, std::size_t most) {
  if (text == nullptr) fail_input(what + " is NULL");
  const std::size_t length = strnlen(text, most + 1);
  if (length == 0 || length > most)
    fail_input(what + " has no or more than " + std::to_string(most) + " characters");
  for (std::size_t i = 0; i < length; ++i)
    if (static_cast<unsigned char>(text[i]) < ' ') fail_input(what + " has control characters");
  return {text, length};
}

std::string checked_name(const std::string& what, const char* text) {
  std::string name = checked_text(what, text, kMostName);
  if (name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
      std::string::npos)
    fail_input(what + " '" + name + "' is not a name: letters, digits and _ only");
  return name;
}

Target checked_target(const std::string& what, const char* text) {
  const std::string given = checked_text(what, text, kMostName);
  std::vector<std::string> known;
  for (const Target target :
       {Target::cpu, Target::sm80, Target::sm90, Target::sm100, Target::sm120}) {
    if (given == name(target)) return target;
    known.emplace_back(name(target));
  }
  fail_input(unknown_name(what, given, known));
}

KernelDef wrap(const RooftileCKernel* kernel, const std::string& where, const std::string& hash) {
  if (kernel == nullptr) fail_input(where + " is NULL");
  check_size(where, kernel->size, sizeof(RooftileCKernel));
  KernelDef def;
  def.op = checked_name(where + ".op", kernel->op);
  def.name = checked_name(where + ".name", kernel->name);
  const std::string id = "kernel '" + def.id() + "': ";
  def.idea = checked_text(id + "idea", kernel->idea, kMostText);
  def.target = checked_target(id + "target", kernel->target);
  if (kernel->determinism < ROOFTILE_ANY || kernel->determinism > ROOFTILE_BATCH_INVARIANT)
    fail_input(id + "determinism is " + std::to_string(kernel->determinism) + ", expected 0 to 2");
  def.determinism = static_cast<Determinism>(kernel->determinism);
  def.calls_vendor_library = kernel->calls_vendor_library != 0;
  if (kernel->supports == nullptr) fail_input(id + "the function supports is NULL");
  if (kernel->run == nullptr) fail_input(id + "the function run is NULL");
  def.supports = [kernel](const Problem& problem, const DeviceProperties& device) {
    return ask_c_kernel(*kernel, problem, device);
  };
  def.prepare = [kernel](const Problem& problem, Device& device, const Config&) {
    return prepare_c_kernel(*kernel, problem, device);
  };
  def.own_code_hash = hash;
  return def;
}

}  // namespace

std::vector<KernelDef> wrap_c_plugin(const RooftileCPlugin* plugin, const std::string& code_hash) {
  if (plugin == nullptr) fail_input("rooftile_c_plugin() returned NULL");
  check_size("RooftileCPlugin", plugin->size, sizeof(RooftileCPlugin));
  if (plugin->version != ROOFTILE_C_PLUGIN_VERSION)
    fail_input("built for version " + std::to_string(plugin->version) +
               " of the C interface; this library has version " +
               std::to_string(ROOFTILE_C_PLUGIN_VERSION));
  if (plugin->num_kernels == 0 || plugin->num_kernels > kMostKernels)
    fail_input("RooftileCPlugin.num_kernels is " + std::to_string(plugin->num_kernels) +
               ", expected 1 to " + std::to_string(kMostKernels));
  if (plugin->kernels == nullptr) fail_input("RooftileCPlugin.kernels is NULL");
  std::vector<KernelDef> defs;
  for (std::uint32_t i = 0; i < plugin->num_kernels; ++i)
    defs.push_back(wrap(plugin->kernels[i], "kernels[" + std::to_string(i) + "]", code_hash));
  return defs;
}

}  // namespace rooftile
