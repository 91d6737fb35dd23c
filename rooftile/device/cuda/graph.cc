// SPDX-License-Identifier: Apache-2.0
#include "rooftile/device/cuda/graph.h"

#include "rooftile/device/cuda/stream.h"

namespace rooftile {
namespace {

class CudaGraph final : public Graph {
 public:
  CudaGraph(const Device& device, CudaContext& context, cudaGraphExec_t graph)
      : device_(device), context_(context), graph_(graph) {}
  ~CudaGraph() override { (void)cudaGraphExecDestroy(graph_); }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void run(Stream& stream) override {
    const CurrentDevice current(context_);
    context_.check(cudaGraphLaunch(graph_, native_stream(device_, stream)), "launching a graph");
  }

 private:
  const Device& device_;
  CudaContext& context_;
  cudaGraphExec_t graph_;
};

// A graph that is still only a list of its nodes.
class CapturedGraph {
 public:
  CapturedGraph() = default;
  ~CapturedGraph() {
    if (graph != nullptr) (void)cudaGraphDestroy(graph);
  }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  cudaGraph_t graph = nullptr;
};

}  // namespace

std::unique_ptr<Graph> capture_cuda_graph(const Device& device, CudaContext& context,
                                          cudaStream_t stream,
                                          const std::function<void()>& launches) {
  const CurrentDevice current(context);
  CapturedGraph captured;
  // Thread-local: other threads go on allocating, and this one is told when it does.
  context.check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
                "beginning to capture a graph");
  try {
    launches();
  } catch (...) {
    (void)cudaStreamEndCapture(stream, &captured.graph);
    (void)cudaGetLastError();
    throw;
  }
  context.check(cudaStreamEndCapture(stream, &captured.graph), "capturing a graph");
  cudaGraphExec_t executable = nullptr;
  context.check(cudaGraphInstantiate(&executable, captured.graph, 0), "instantiating a graph");
  auto graph = std::make_unique<CudaGraph>(device, context, executable);
  // Why now: the first launch would do it, and be slower than the others.
  context.check(cudaGraphUpload(executable, stream), "uploading a graph");
  return graph;
}

}  // namespace rooftile
