// SPDX-License-Identifier: Apache-2.0
#include "rooftile/ops/rope/cases.h"

#include <string>

namespace rooftile::ops::rope {
namespace {

constexpr const char* kLlama3 =
    " theta=500000 scaling=llama3 factor=8 low_freq_factor=1 high_freq_factor=4 "
    "original_context=8192";
constexpr const char* kYarn = " theta=1e6 scaling=yarn factor=4 original_context=32768";

std::vector<Case> edges_of(const std::string& dtype) {
  std::vector<Case> list;
  const auto edge = [&](const std::string& text) { list.push_back({"edges", text + dtype}); };
  edge("tokens=0 heads=2 head_dim=8");
  edge("tokens=3 heads=0 head_dim=8");
  for (const char* pairing : {" pairing=half", " pairing=interleaved"}) {
    for (const int head_dim : {2, 6, 24, 32, 48, 80, 96, 128, 192, 256})
      edge("tokens=5 heads=3 head_dim=" + std::to_string(head_dim) + pairing);
    edge("tokens=8 heads=2 head_dim=8 rotary=4" + std::string(pairing));
    edge("tokens=8 heads=2 head_dim=120 rotary=34" + std::string(pairing));
    edge("tokens=4 heads=2 head_dim=120 rotary=34 y.alias=x" + std::string(pairing));
    edge("tokens=4 heads=2 head_dim=64 y.alias=x" + std::string(pairing));
    edge("tokens=9 heads=2 head_dim=64 data=extreme" + std::string(pairing));
    edge("tokens=9 heads=2 head_dim=64 data=uniform pairs=32 freq_factors=f32" +
         std::string(pairing));
  }
  edge("tokens=2 heads=2 head_dim=1030");  // wider than a block
  edge("tokens=2 heads=1 head_dim=1030 rotary=64");
  edge("tokens=4 heads=3 head_dim=64 data=zeros");
  edge("tokens=4 heads=3 head_dim=64 x.stride=1000,64,1 y.stride=300,70,1 x.offset=3 y.offset=1");
  edge("tokens=4 heads=3 head_dim=64 x.stride=1000,64,1 y.stride=1000,64,1 y.alias=x");
  edge("tokens=4 heads=3 head_dim=32 x.stride=1,4,12 y.stride=3,1,12");
  edge("tokens=4 heads=3 head_dim=32 x.stride=0,32,1 positions.stride=2");
  edge(
      "tokens=4 heads=3 head_dim=32 positions.stride=0 pairs=16 freq_factors=f32 "
      "freq_factors.stride=2");
  edge("tokens=5 heads=2 head_dim=64 data=uniform scaling=linear factor=3");
  edge("tokens=5 heads=2 head_dim=64 data=uniform" + std::string(kLlama3));
  edge("tokens=5 heads=2 head_dim=64 data=uniform" + std::string(kYarn));
  edge("tokens=5 heads=2 head_dim=64 data=uniform rotary=32 attn_factor=0.7" + std::string(kYarn));
  edge("tokens=5 heads=2 head_dim=64 data=uniform mscale=1 mscale_all_dim=0.707" +
       std::string(kYarn));
  return list;
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> list{
      {"smoke", "tokens=4 heads=2 head_dim=64 x=bf16"},
      {"smoke", "tokens=3 heads=2 head_dim=64 x=f32 pairing=interleaved"},
      {"ci", "tokens=33 heads=8 head_dim=128 x=f32 y.alias=x"},
      {"ci", "tokens=17 heads=32 head_dim=128 x=bf16" + std::string(kLlama3)},
      {"ci", "tokens=1 heads=40 head_dim=128 x=bf16 data=uniform"},
      {"llama3_8b.prefill",
       "tokens=2048 heads=40 head_dim=128 x=bf16 x.stride=6144,128,1 y.stride=6144,128,1 y.alias=x" +
           std::string(kLlama3)},
      {"llama3_8b.decode",
       "tokens=1 heads=40 head_dim=128 x=bf16 y.alias=x" + std::string(kLlama3)},
      {"qwen2_7b.decode", "tokens=16 heads=32 head_dim=128 x=bf16 y.alias=x" + std::string(kYarn)},
      {"roof", "tokens=4096 heads=32 head_dim=128 x=f32"},
      {"roof", "tokens=4096 heads=32 head_dim=128 x=bf16"},
  };
  for (const char* x : {" x=f32", " x=bf16", " x=fp16"})
    for (Case& edge : edges_of(x)) list.push_back(std::move(edge));
  list.push_back({"edges", "tokens=4 heads=2 head_dim=70 rotary=60 x=fp16 y=f32"});
  list.push_back({"edges", "tokens=64 heads=1 head_dim=8 x=f32 x.stride=67108864,8,1"});
  return list;
}

}  // namespace rooftile::ops::rope
