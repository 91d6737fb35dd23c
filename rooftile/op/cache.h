// SPDX-License-Identifier: Apache-2.0
// A small file of key and text in the user's cache folder: what was measured or proven on this
// machine. Written atomically under a lock; a corrupt file is set aside with a warning, never
// believed and never fatal.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "rooftile/base/api.h"

namespace ROOFTILE_API rooftile {

class CacheFile {
 public:
  using Entries = std::map<std::string, std::string>;

  /// `name` is a file name in cache_folder(), as "proofs.json".
  explicit CacheFile(std::string name);

  /// What the file holds now; empty when there is none.
  [[nodiscard]] Entries read() const;

  /// Reads, lets `change` edit, and writes, as one step among processes. A folder that cannot be
  /// written gives a warning on stderr, once: a cache is no reason to fail.
  void update(const std::function<void(Entries&)>& change) const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[nodiscard]] Entries read_locked() const;

  std::string path_;
};

/// What a cache file says, read once for each folder and then kept in step with the changes of this
/// process: what dispatch asks at every choice.
class KnownEntries {
 public:
  static KnownEntries& of(const std::string& name);

  [[nodiscard]] std::optional<std::string> find(const std::string& key);

  /// Changes what is known and the file.
  void update(const std::function<void(CacheFile::Entries&)>& change);

 private:
  explicit KnownEntries(const CacheFile& file) : file_(file), entries_(file.read()) {}

  std::mutex mutex_;
  CacheFile file_;
  CacheFile::Entries entries_;
};

}  // namespace rooftile
