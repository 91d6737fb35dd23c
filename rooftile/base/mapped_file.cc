// SPDX-License-Identifier: Apache-2.0
#include "rooftile/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw Error(ErrorCode::io, "cannot read '" + path + "': " + reason);
}

std::string last_error() { return std::generic_category().message(errno); }

std::span<const std::byte> map(const std::string& path, int file) {
  struct stat status{};
  if (fstat(file, &status) != 0) fail(path, last_error());
  if (S_ISDIR(status.st_mode)) fail(path, "it is a folder, not a file");
  if (!S_ISREG(status.st_mode)) fail(path, "it is no regular file");
  if (status.st_size == 0) fail(path, "it is empty");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* memory = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) fail(path, last_error());
  return {static_cast<const std::byte*>(memory), size};
}

}  // namespace

MappedFile::MappedFile(std::string path) : path_(std::move(path)) {
  // Non-blocking: a named pipe without a writer is refused instead of waited for.
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(path_, last_error());
  try {
    bytes_ = map(path_, file);
  } catch (...) {
    close(file);
    throw;
  }
  close(file);
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

void let_go(std::span<const std::byte> bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(bytes.data()) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(bytes.data()) + bytes.size()) / page * page;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace rooftile
