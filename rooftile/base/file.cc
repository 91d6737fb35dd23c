// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "rooftile/base/error.h"

namespace rooftile {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail_io(const std::string& doing, const std::string& path, int error) {
  throw Error(ErrorCode::io, "cannot " + doing + " '" + path + "': " + std::strerror(error));
}

fs::path folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

}  // namespace

std::optional<std::string> read_file(const std::string& path, std::int64_t most_bytes) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (status.type() == fs::file_type::none) fail_io("read", path, error.value());
  if (status.type() != fs::file_type::regular) fail_io("read", path, EISDIR);
  const auto size = static_cast<std::int64_t>(fs::file_size(path, error));
  if (error || size > most_bytes) fail_io("read", path, error ? error.value() : EFBIG);
  std::ifstream file(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!file.read(text.data(), size)) fail_io("read", path, errno);
  return text;
}

void replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = path + ".tmp" + std::to_string(::getpid());
  errno = 0;
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << text;
    file.flush();
    if (!file) {
      const int error = errno == 0 ? EIO : errno;
      std::error_code ignored;
      fs::remove(temporary, ignored);
      fail_io("write", path, error);
    }
  }
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) {
    std::error_code ignored;
    fs::remove(temporary, ignored);
    fail_io("write", path, error.value());
  }
}

void check_writable(const std::string& path) {
  std::error_code ignored;
  const std::string folder = folder_of(path).string();
  int error = 0;
  if (path.empty()) {
    error = ENOENT;
  } else if (fs::is_directory(path, ignored)) {
    error = EISDIR;
  } else if (::access(folder.c_str(), W_OK) != 0) {
    error = errno;
  } else if (!fs::is_directory(folder, ignored)) {
    error = ENOTDIR;
  }
  if (error != 0) fail_input("cannot write '" + path + "': " + std::strerror(error));
}

std::string cache_folder() {
  if (const char* own = std::getenv("ROOFTILE_CACHE"); own != nullptr && *own != '\0') return own;
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg != '\0')
    return std::string(xdg) + "/rooftile";
  const char* home = std::getenv("HOME");
  return std::string(home == nullptr ? "/tmp" : home) + "/.cache/rooftile";
}

}  // namespace rooftile
