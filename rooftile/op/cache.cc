// SPDX-License-Identifier: Apache-2.0
#include "rooftile/op/cache.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <iostream>
#include <memory>
#include <system_error>

#include "rooftile/base/error.h"
#include "rooftile/base/file.h"
#include "rooftile/base/json.h"

namespace rooftile {
namespace {

constexpr int kCacheSchema = 1;

class FileLock {
 public:
  FileLock(const std::string& path, int kind)
      : handle_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (handle_ >= 0) ::flock(handle_, kind);
  }
  ~FileLock() {
    if (handle_ >= 0) ::close(handle_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  int handle_;
};

void warn(const std::string& message) { std::cerr << "rooftile: warning: " << message << "\n"; }

CacheFile::Entries parse(const std::string& text) {
  const Json file = parse_json(text);
  if (!file.is_object() || !file.contains("schema") || file["schema"] != kCacheSchema)
    fail_input("not a cache of this version");
  CacheFile::Entries entries;
  for (const auto& [key, value] : file.at("entries").items())
    entries[key] = value.get<std::string>();
  return entries;
}

}  // namespace

CacheFile::CacheFile(std::string name) : path_(cache_folder() + "/" + std::move(name)) {}

CacheFile::Entries CacheFile::read() const {
  std::error_code ignored;
  if (!std::filesystem::exists(path_, ignored)) return {};
  // Why: a file that another process replaces meanwhile would look corrupt.
  const FileLock lock(path_ + ".lock", LOCK_SH);
  return read_locked();
}

CacheFile::Entries CacheFile::read_locked() const {
  std::string fault;
  try {
    const auto text = read_file(path_);
    if (!text) return {};
    return parse(*text);
  } catch (const std::exception& error) {
    fault = error.what();
  }
  std::error_code ignored;
  std::filesystem::rename(path_, path_ + ".corrupt", ignored);
  warn("'" + path_ + "' is not usable (" + fault + "); set aside as '" + path_ + ".corrupt'");
  return {};
}

void CacheFile::update(const std::function<void(Entries&)>& change) const {
  static std::atomic<bool> has_warned{false};
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  const FileLock lock(path_ + ".lock", LOCK_EX);
  Entries entries = read_locked();
  change(entries);
  const Json file{{"schema", kCacheSchema}, {"entries", entries}};
  try {
    replace_file(path_, file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  } catch (const Error& error) {
    if (!has_warned.exchange(true)) warn(std::string(error.what()) + "; nothing is remembered");
  }
}

KnownEntries& KnownEntries::of(const std::string& name) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<KnownEntries>> all;
  const CacheFile file(name);
  const std::lock_guard lock(mutex);
  std::unique_ptr<KnownEntries>& known = all[file.path()];
  if (known == nullptr) known.reset(new KnownEntries(file));
  return *known;
}

std::optional<std::string> KnownEntries::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto found = entries_.find(key);
  return found == entries_.end() ? std::nullopt : std::optional(found->second);
}

void KnownEntries::update(const std::function<void(CacheFile::Entries&)>& change) {
  {
    const std::lock_guard lock(mutex_);
    change(entries_);
  }
  file_.update(change);
}

}  // namespace rooftile
