// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/cudnn.h"

#include <dlfcn.h>

#include <array>
#include <map>
#include <memory>

#include "rooftile/base/error.h"

namespace rooftile {
namespace {

constexpr std::size_t kLeastVersion = 90000;
constexpr std::size_t kMostWords = 400;

// Why they are opened here: libcudnn.so.9 loads each when a call first needs it, and ends the
// process where that fails.
constexpr const char* kParts[]{
    "libcudnn_graph.so.9",
    "libcudnn_ops.so.9",
    "libcudnn_heuristic.so.9",
    "libcudnn_engines_precompiled.so.9",
    "libcudnn_engines_runtime_compiled.so.9",
};

// Why lazily: of the engines few are used, and binding all takes long.
void* open_shared(const char* name) { return dlopen(name, RTLD_LAZY | RTLD_LOCAL); }
void* find_symbol(void* library, const char* symbol) { return dlsym(library, symbol); }

void find_functions(Cudnn& all, const LibrarySource& source, void* library) {
  const auto find = [&]<class Function>(const char* symbol, Function*& function) {
    function = reinterpret_cast<Function*>(source.find(library, symbol));
    if (function == nullptr && all.reason.empty())
      all.reason = std::string("found a cuDNN without ") + symbol + ": it is too old";
  };
  find("cudnnGetVersion", all.get_version);
  find("cudnnGetErrorString", all.error_string);
  find("cudnnGetLastErrorString", all.last_error);
  find("cudnnCreate", all.create);
  find("cudnnSetStream", all.set_stream);
  find("cudnnBackendCreateDescriptor", all.create_descriptor);
  find("cudnnBackendDestroyDescriptor", all.destroy_descriptor);
  find("cudnnBackendSetAttribute", all.set_attribute);
  find("cudnnBackendGetAttribute", all.get_attribute);
  find("cudnnBackendFinalize", all.finalize);
  find("cudnnBackendExecute", all.execute);
  find("cudnnCreateTensorDescriptor", all.create_tensor);
  find("cudnnDestroyTensorDescriptor", all.destroy_tensor);
  find("cudnnSetTensor4dDescriptorEx", all.set_tensor);
  find("cudnnSoftmaxForward", all.softmax_forward);
}

}  // namespace

Cudnn load_cudnn(const LibrarySource& source) {
  Cudnn all;
  void* const library = source.open("libcudnn.so.9");
  if (library == nullptr) {
    all.reason = "libcudnn.so.9 (cuDNN 9) was not found";
    return all;
  }
  for (const char* part : kParts)
    if (source.open(part) == nullptr) {
      all.reason = std::string("libcudnn.so.9 was found, but not ") + part + ", which it loads";
      return all;
    }
  find_functions(all, source, library);
  if (!all.reason.empty()) return all;
  all.version = all.get_version();
  if (all.version < kLeastVersion)
    all.reason = "found cuDNN " + std::to_string(all.version) + ", which is too old: from " +
                 std::to_string(kLeastVersion) + " (9.0.0) on it has what is used here";
  return all;
}

std::string Cudnn::last_words() const {
  std::array<char, 4096> text{};
  last_error(text.data(), text.size() - 1);
  std::string words;
  for (const char each : std::string(text.data())) {
    if (each != '\n')
      words += each;
    else if (!words.empty() && !words.ends_with("; "))
      words += "; ";
  }
  if (words.ends_with("; ")) words.resize(words.size() - 2);
  if (words.size() > kMostWords) words = words.substr(0, kMostWords) + " ...";
  return words;
}

void Cudnn::check(cudnn::Status status, const char* doing) const {
  if (status == cudnn::kSuccess) return;
  const std::string words = last_words();
  throw Error(ErrorCode::device, std::string("cuDNN: ") + doing + ": " + error_string(status) +
                                     (words.empty() ? "" : ": " + words));
}

const Cudnn& cudnn_library() {
  static const Cudnn found = load_cudnn({.open = open_shared, .find = find_symbol});
  return found;
}

CudnnDevice& cudnn_device(int index) {
  static std::mutex mutex;
  // Never destroyed: at exit the driver may be gone before it.
  static auto& devices = *new std::map<int, std::unique_ptr<CudnnDevice>>;
  const std::lock_guard lock(mutex);
  std::unique_ptr<CudnnDevice>& device = devices[index];
  if (!device) {
    auto made = std::make_unique<CudnnDevice>(index);
    const CurrentDevice current(made->context);
    cudnn_library().check(cudnn_library().create(&made->handle), "starting on this GPU");
    device = std::move(made);
  }
  return *device;
}

}  // namespace rooftile
