// SPDX-License-Identifier: Apache-2.0
#include "rooftile/model/runner.h"

namespace rooftile {
namespace {

KvShape kv_shape(const ModelConfig& config, const RunnerOptions& options) {
  return {.layers = config.layers,
          .kv_heads = config.kv_heads,
          .head_dim = config.head_dim,
          .page_size = options.page_size,
          .dtype = options.kv};
}

}  // namespace

// A page more for each sequence: its last one is rarely full.
Runner::Runner(const Model& model, Device& device, const Registry& registry,
               const RunnerOptions& options)
    : model_(&model),
      cache_(device, kv_shape(model.config(), options),
             (options.tokens + options.page_size - 1) / options.page_size +
                 options.transformer.most_sequences),
      plans_(registry, device),
      transformer_(model.config(), model.weights(), cache_, plans_, options.transformer),
      stream_(device.make_stream()) {}

void Runner::warm_up() {
  Sequence sequence;
  const PassInput input{&sequence, {0}, 1};
  transformer_.forward(*stream_, std::span(&input, 1));
  stream_->synchronise();
  cache_.release(sequence);
}

ProfiledModel description(const Model& model, const KvCache& cache) {
  return {.name = model.name(),
          .architecture = std::string(name(model.config().architecture)),
          .command = {},
          .is_synthetic = model.is_synthetic(),
          .parameters = num_parameters(model.weights()),
          .weight_bytes = stored_bytes(model.weights()),
          .weight_bytes_per_token = bytes_per_decode(model.weights()),
          .kv_bytes_per_token = static_cast<double>(cache.bytes_per_token()),
          .layers = model.config().layers,
          .context = 0};
}

}  // namespace rooftile
