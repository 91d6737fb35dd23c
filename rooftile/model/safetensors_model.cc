// SPDX-License-Identifier: Apache-2.0
// Models of one or several safetensors files.
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/model/safetensors.h"
#include "rooftile/model/strict_json.h"

namespace rooftile {
namespace fs = std::filesystem;
namespace {

constexpr const char* kIndex = "model.safetensors.index.json";
constexpr const char* kSingle = "model.safetensors";

// A shard lies in the folder of its index: its name has no path, and nothing hidden.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.' &&
         name.find_first_of(std::string("/\\\0", 3)) == std::string::npos;
}

}  // namespace

SafetensorsIndex parse_safetensors_index(std::string_view text, const std::string& name) {
  const StrictJson json = parse_strict_json(text, name);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object())
    fail_input(name + ": the index has no object 'weight_map'");
  SafetensorsIndex index;
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string() || !is_plain_name(shard.get<std::string>()))
      fail_input(name + ": tensor '" + tensor + "' is in " + shard.dump() +
                 ", which is no name of a file beside the index");
    index.shard_of.emplace_back(tensor, shard.get<std::string>());
    shards.insert(shard.get<std::string>());
  }
  index.shards.assign(shards.begin(), shards.end());
  return index;
}

void SafetensorsModel::add_file(const std::string& path) {
  files_.emplace_back(path);
  parse_safetensors(files_.back().bytes(), path, tensors_);
}

void SafetensorsModel::add_index(const std::string& path) {
  const std::optional<std::string> text = read_file(path);
  if (!text) throw Error(ErrorCode::io, "cannot read '" + path + "': there is no such file");
  const SafetensorsIndex index = parse_safetensors_index(*text, path);
  const fs::path folder = fs::path(path).parent_path();
  std::map<std::string, std::span<const std::byte>> bytes_of;
  for (const std::string& shard : index.shards) {
    add_file((folder / shard).string());
    bytes_of[shard] = files_.back().bytes();
  }
  for (const auto& [name, shard] : index.shard_of) {
    const ModelTensor* tensor = tensors_.find(name);
    const std::span<const std::byte> bytes = bytes_of[shard];
    const auto* data = tensor == nullptr ? nullptr : static_cast<const std::byte*>(tensor->data);
    if (data == nullptr || std::less<>{}(data, bytes.data()) ||
        std::less<>{}(bytes.data() + bytes.size(), data))
      fail_input(path + ": tensor '" + name + "' is not in '" + shard + "'");
  }
}

SafetensorsModel SafetensorsModel::open(const std::string& path) {
  SafetensorsModel model;
  model.tensors_ = TensorTable(path);
  std::string file = path;
  if (fs::is_directory(path)) {
    const fs::path index = fs::path(path) / kIndex;
    file = (fs::exists(index) ? index : fs::path(path) / kSingle).string();
  }
  if (file.ends_with(".json")) {
    model.add_index(file);
  } else {
    model.add_file(file);
  }
  return model;
}

}  // namespace rooftile
