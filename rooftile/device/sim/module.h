// SPDX-License-Identifier: Apache-2.0
// The shared object (or program) that a kernel was compiled into: its __shared__ variables, which
// are thread-local variables to the linker, and the source lines of its code.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rooftile::sim {

struct SharedVariable {
  std::uint32_t begin = 0;  // offset in the module's thread-local storage
  std::uint32_t end = 0;
  bool is_guard = false;  // of a constructor: not a variable of the kernel
  std::string name;       // "tile", with its function before it
};

class Module {
 public:
  /// The module whose code holds `code`; read once, kept for the program's life.
  static const Module& of(const void* code);

  /// This thread's copy of the module's thread-local storage; null where it has none.
  [[nodiscard]] std::uint8_t* thread_local_storage() const;
  /// Its __shared__ variables cannot be told apart: its symbols were stripped.
  [[nodiscard]] bool lacks_symbols() const { return tls_bytes_ != 0 && !has_symbols_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::vector<SharedVariable>& variables() const { return variables_; }
  /// Whether the address lies in its code or its data, where constants are.
  [[nodiscard]] bool contains(std::uint64_t address) const {
    return address >= begin_ && address < end_;
  }
  [[nodiscard]] const SharedVariable* find(std::uint32_t offset) const;

 private:
  explicit Module(const void* code);
  void read_symbols();
  std::string path_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  std::size_t tls_module_ = 0;
  std::uint32_t tls_bytes_ = 0;
  bool has_symbols_ = false;
  std::vector<SharedVariable> variables_;
};

/// "rmsnorm.cu:24", from the low 32 bits of a return address; "?" where nothing is known. Of
/// inlined calls the innermost that is not in rooftile/tile or the standard library.
std::string source_line(std::uint32_t pc);

}  // namespace rooftile::sim
