// SPDX-License-Identifier: Apache-2.0
// A problem's tensors on a device, ready to run a plan on and to be checked afterwards: inputs with
// data, outputs poisoned, guard bands around everything, and a private image of what was there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rooftile/base/api.h"
#include "rooftile/op/op.h"
#include "rooftile/op/plan.h"
#include "rooftile/workbench/guarded_tensor.h"

namespace ROOFTILE_API rooftile {

class Workload {
 public:
  /// Allocates memory for every present argument; contents come from set_inputs(), which comes
  /// before all else.
  Workload(const OpDef& op, Problem problem, Device& device, Stream& stream);

  /// Generates inputs from `seed`, stores them, poisons outputs, and keeps the values as stored
  /// (after rounding to each dtype) as what the reference computes on.
  void set_inputs(std::uint64_t seed);

  /// The same with given inputs.
  void set_inputs(const Values& inputs);

  /// The inputs of another workload of the same problem; what is expected is computed once for
  /// both.
  void share_inputs(Workload& other);

  /// Poisons outputs again and restores inputs that share memory with one.
  void reset(Poison poison = Poison::nan);

  /// Runs `plan`, several times right behind each other, and waits for the device.
  void run(const Plan& plan, void* workspace, int times = 1);

  /// Inputs and expected outputs, computed by the meaning at the first call for these inputs.
  const Values& expected();

  /// All outputs' bytes, for bitwise comparison between runs.
  [[nodiscard]] std::string output_bits();

  /// What is wrong with the memory: an input changed, something written outside an output. Empty
  /// when all is well.
  [[nodiscard]] std::string memory_fault();

  struct Slot {
    std::string name;
    std::unique_ptr<GuardedTensor> own;  // null: absent, or another's memory
    GuardedTensor* tensor = nullptr;     // null: absent
    bool is_output = false;
    bool is_shared = false;  // an input whose memory an output uses
  };
  /// The memory of a present argument.
  [[nodiscard]] GuardedTensor& tensor(std::string_view name);

  /// Whether an output uses an input's memory.
  [[nodiscard]] bool is_in_place() const;

  /// Present outputs.
  [[nodiscard]] std::vector<Slot*> outputs();

  [[nodiscard]] const Problem& problem() const { return problem_; }
  /// As stored; of an operation that works in place, before it did.
  [[nodiscard]] const Values& inputs() const { return data_->inputs; }
  [[nodiscard]] const std::vector<TensorView>& views() const { return views_; }
  [[nodiscard]] Stream& stream() { return stream_; }

 private:
  Values& own_data();  // zeros
  void keep();
  [[nodiscard]] std::vector<const Slot*> own_inputs() const;

  const OpDef& op_;
  Problem problem_;
  Device& device_;
  Stream& stream_;
  std::vector<Slot> slots_;
  std::vector<TensorView> views_;

  struct Data {
    Values inputs;
    bool is_expected_known = false;
    std::unique_ptr<Values> expected;  // null: the outputs stand beside the inputs
  };
  std::shared_ptr<Data> data_;
};

/// A plan's workspace, poisoned: a kernel that reads it before writing gets NaN. Guards stand
/// around it.
class Workspace {
 public:
  Workspace(const Plan& plan, Device& device, Stream& stream);

  /// Again: what a run left there is nothing that a later one may rely on.
  void poison();

  [[nodiscard]] void* data() const;

  /// "wrote outside its workspace" when a guard has changed; empty when all is well.
  [[nodiscard]] std::string fault() const;

 private:
  Device& device_;
  Stream& stream_;
  DeviceMemory memory_;
};

}  // namespace rooftile
