# SPDX-License-Identifier: Apache-2.0
"""The files that are mutated, and the kernels that are verified with each, in this order."""

OPS = "rooftile/ops"
# Beyond the sets smoke, ci and edges. Several tiles and more steps than stages; several tiles a block,
# which needs more than the 132 that run at once.
PROBLEMS = {
    "gemm/sm90_ws": ["m=200 n=520 k=200 a=bf16 layout=nt",
                     "m=200 n=520 k=200 a=bf16 layout=nt bias=bf16 residual=bf16 act=silu", "m=17032 n=8 k=520 a=bf16 layout=nt"],
    "gemm/sm90_stream": ["m=16 n=17200 k=264 a=bf16 layout=nt", "m=100 n=520 k=1160 a=bf16 layout=nt bias=bf16 act=silu",
                         "m=40 n=200 k=136 a=bf16 d=f32 layout=nt", "m=5 n=72 k=72 a=bf16 layout=nt bias=bf16 act=silu"],
    "gemm/sm90_split": ["m=140 n=264 k=4104 a=bf16 layout=nt"],
}
KERNELS = ["gemm/sm90_naive", "gemm/sm90_tiled", "gemm/sm80_mma", "gemm/sm90_split", "rmsnorm/sm90_plain", "rmsnorm/sm90_rows",
           "softmax/sm90_plain", "softmax/sm90_rows", "transpose/sm90_plain", "transpose/sm90_tiled",
           "transpose/sm90_padded", "transpose/sm90_vector", "scaled_copy/sm90_plain", "scaled_copy/sm90_vector"]
HEADERS = {
    f"{OPS}/gemm/sm90_ws.h": ["gemm/sm90_ws", "gemm/sm90_split"],
    f"{OPS}/gemm/sm90_mainloop.h": ["gemm/sm90_ws", "gemm/sm90_stream"],
    f"{OPS}/gemm/sm90_epilogue.h": ["gemm/sm90_ws", "gemm/sm90_split"],
    f"{OPS}/gemm/sm90_stream.h": ["gemm/sm90_stream"],
    f"{OPS}/gemm/sm90_turned.h": ["gemm/sm90_stream"],
    "rooftile/tile/pipeline.h": ["gemm/sm90_ws"],
    "rooftile/tile/tile_order.h": ["gemm/sm90_ws"],
    f"{OPS}/gemm/sm90_gemm.h": ["gemm/sm90_naive"],
    f"{OPS}/transpose/sm90_tile.h": ["transpose/sm90_tiled", "transpose/sm90_padded"],
    "rooftile/tile/row_reduce.h": ["softmax/sm90_rows", "rmsnorm/sm90_plain"],
    "rooftile/tile/row_packs.h": ["softmax/sm90_rows", "rmsnorm/sm90_rows"],
    "rooftile/tile/elements.h": ["scaled_copy/sm90_vector", "scaled_copy/sm90_plain", "transpose/sm90_vector",
                                 "softmax/sm90_rows", "rmsnorm/sm90_rows", "rmsnorm/sm90_plain"],
}


def source_of(kernel):
    return f"{OPS}/{kernel}.cu"


FILES = {**{source_of(kernel): [kernel] for kernel in KERNELS}, **HEADERS}
ALL_KERNELS = list(dict.fromkeys(kernel for kernels in FILES.values() for kernel in kernels))
