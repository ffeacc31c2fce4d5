#pragma once

#include "cpu/kernels/generic/attention.hpp"
#include "cpu/kernels/generic/rows.hpp"

/// The op part of an instruction set's table, over its vocabulary V, in the order of OpKernels.
#define BRISK_OP_ENTRIES(V)                                                                                            \
  {                                                                                                                    \
    add<V>, mul<V>, scale<V>, add_scaled<V>, soft_cap<V>, sigmoid<V>,                                                  \
        {activate<V, 0>, activate<V, 1>, activate<V, 2>, activate<V, 3>},                                              \
        {gated<V, 0>, gated<V, 1>, gated<V, 2>, gated<V, 3>}, exp<V>, softmax<V>, rms_norm<V>, layer_norm<V>,          \
        rope_norm<V>, rope_neox<V>, to_f16<V>, from_f16<V>, {attention_chunk<V, float>, attention_chunk<V, uint16_t>}, \
        attention_merge<V>, attention_finish<V>                                                                        \
  }
