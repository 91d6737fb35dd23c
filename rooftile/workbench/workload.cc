// SPDX-License-Identifier: Apache-2.0
#include "rooftile/workbench/workload.h"

#include <algorithm>
#include <utility>

#include "rooftile/op/generate.h"

namespace rooftile {
namespace {

constexpr std::int64_t kWorkspaceGuard = 4096;

}  // namespace

Workload::Workload(const OpDef& op, Problem problem, Device& device, Stream& stream)
    : op_(op), problem_(std::move(problem)), device_(device), stream_(stream) {
  for (const ArgChoice& arg : problem_.args) {
    Slot& slot = slots_.emplace_back();
    slot.name = arg.name;
    slot.is_output = arg.is_output;
    if (!arg.is_present || !arg.alias.empty()) continue;
    slot.own = std::make_unique<GuardedTensor>(arg, device, stream);
    slot.tensor = slot.own.get();
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (problem_.args[i].alias.empty()) continue;
    for (Slot& owner : slots_) {
      if (owner.name != problem_.args[i].alias) continue;
      slots_[i].tensor = owner.tensor;
      owner.is_shared = true;
    }
  }
  for (const Slot& slot : slots_)
    views_.push_back(slot.tensor != nullptr ? slot.tensor->view() : TensorView{});
}

void Workload::set_inputs(std::uint64_t seed) {
  problem_.seed = seed;
  Values& inputs = own_data();
  generate_inputs(op_, problem_, inputs);
  keep();
}

void Workload::set_inputs(const Values& inputs) {
  own_data() = inputs;
  keep();
}

// Memory that nobody shares is used again: claiming it takes as long as drawing what it holds.
Values& Workload::own_data() {
  if (data_ == nullptr || data_.use_count() > 1)
    data_ = std::make_shared<Data>(Values(problem_));
  else
    data_->inputs.clear();
  data_->is_expected_known = false;
  return data_->inputs;
}

void Workload::keep() {
  for (const Slot& slot : slots_)
    if (slot.own != nullptr && op_.find_arg(slot.name)->role == Role::out) slot.own->poison();
  for (const Slot* slot : own_inputs()) {
    std::vector<double>& values = data_->inputs[slot->name].values;
    slot->own->store(values);
    slot->own->load_stored(values);  // as the kernel will see them
  }
}

void Workload::share_inputs(Workload& other) {
  problem_.seed = other.problem_.seed;
  data_ = other.data_;
  for (const Slot& slot : slots_)
    if (slot.own != nullptr) slot.own->store_as(other.tensor(slot.name));
}

std::vector<const Workload::Slot*> Workload::own_inputs() const {
  std::vector<const Slot*> list;
  for (const Slot& slot : slots_)
    if (slot.own != nullptr && op_.find_arg(slot.name)->role != Role::out) list.push_back(&slot);
  return list;
}

void Workload::reset(Poison poison) {
  for (const Slot& slot : slots_) {
    if (slot.own == nullptr) continue;
    if (op_.find_arg(slot.name)->role == Role::out)
      slot.own->poison(poison);
    else if (slot.is_shared || slot.is_output)
      slot.own->restore();
  }
}

void Workload::run(const Plan& plan, void* workspace, int times) {
  for (int i = 0; i < times; ++i) plan.run({.stream = &stream_, .workspace = workspace}, views_);
  stream_.synchronise();
  device_.synchronise();
}

bool Workload::is_in_place() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.is_shared; });
}

const Values& Workload::expected() {
  if (!data_->is_expected_known) {
    const bool overwrites =
        std::ranges::any_of(op_.args, [](const ArgDef& arg) { return arg.role == Role::inout; });
    if (overwrites) data_->expected = std::make_unique<Values>(data_->inputs);
    op_.meaning(problem_, overwrites ? *data_->expected : data_->inputs);
    data_->is_expected_known = true;
  }
  return data_->expected ? *data_->expected : data_->inputs;
}

GuardedTensor& Workload::tensor(std::string_view name) {
  return *std::ranges::find(slots_, name, &Slot::name)->tensor;
}

std::vector<Workload::Slot*> Workload::outputs() {
  std::vector<Slot*> list;
  for (Slot& slot : slots_)
    if (slot.is_output && slot.tensor != nullptr) list.push_back(&slot);
  return list;
}

std::string Workload::output_bits() {
  std::string bits;
  for (const Slot* slot : outputs()) bits += slot->tensor->element_bits();
  return bits;
}

std::string Workload::memory_fault() {
  for (const Slot& slot : slots_) {
    if (slot.own == nullptr) continue;
    const bool is_written = slot.is_output || slot.is_shared;
    if (slot.own->is_untouched(is_written)) continue;
    return is_written ? "wrote outside '" + slot.name + "'"
                      : "changed input '" + slot.name + "' or the memory around it";
  }
  return "";
}

Workspace::Workspace(const Plan& plan, Device& device, Stream& stream)
    : device_(device),
      stream_(stream),
      memory_(device, plan.workspace_bytes() + 2 * kWorkspaceGuard) {
  this->poison();
}

void Workspace::poison() {
  const std::string poison(static_cast<std::size_t>(memory_.bytes()), '\xff');
  device_.copy_to_device(stream_, memory_.data(), poison.data(), memory_.bytes());
  stream_.synchronise();
}

void* Workspace::data() const { return static_cast<char*>(memory_.data()) + kWorkspaceGuard; }

std::string Workspace::fault() const {
  for (const std::int64_t begin : {std::int64_t{0}, memory_.bytes() - kWorkspaceGuard}) {
    std::string guard(kWorkspaceGuard, '\0');
    device_.copy_to_host(stream_, guard.data(), static_cast<const char*>(memory_.data()) + begin,
                         kWorkspaceGuard);
    stream_.synchronise();
    if (guard != std::string(kWorkspaceGuard, '\xff')) return "wrote outside its workspace";
  }
  return "";
}

}  // namespace rooftile
