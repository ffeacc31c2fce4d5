#include "cpu/pack/pack.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/error.hpp"
#include "cpu/kernels/generic/formats.hpp"
#include "cpu/kernels/generic/lane.hpp"
#include "cpu/pack/lane_words.hpp"

namespace brisk::cpu {
namespace {

struct TypeFormat {
  DType dtype;
  PackFormat format;
};
constexpr TypeFormat kTypeFormats[] = {
    {DType::f32, PackFormat::f32},      {DType::f16, PackFormat::f16},         {DType::bf16, PackFormat::bf16},
    {DType::q4_0, PackFormat::q4_0},    {DType::q4_1, PackFormat::q4_1},       {DType::q5_0, PackFormat::q5_0},
    {DType::q5_1, PackFormat::q5_1},    {DType::q8_0, PackFormat::q8_0},       {DType::iq4_nl, PackFormat::iq4_nl},
    {DType::q2_k, PackFormat::q2_k},    {DType::q3_k, PackFormat::q3_k},       {DType::q4_k, PackFormat::q4_k},
    {DType::q5_k, PackFormat::q5_k},    {DType::q6_k, PackFormat::q6_k},       {DType::iq4_xs, PackFormat::iq4_xs},
    {DType::mxfp4, PackFormat::mxfp4},  {DType::nvfp4, PackFormat::nvfp4},     {DType::iq3_xxs, PackFormat::iq3_xxs},
    {DType::iq3_s, PackFormat::iq3_s},  {DType::iq2_xxs, PackFormat::iq2_xxs}, {DType::iq2_xs, PackFormat::iq2_xs},
    {DType::iq2_s, PackFormat::iq2_xs}, {DType::iq1_s, PackFormat::iq1_s},     {DType::iq1_m, PackFormat::iq1_m},
    {DType::tq1_0, PackFormat::tq2_0},  {DType::tq2_0, PackFormat::tq2_0},     {DType::q2_0, PackFormat::q2_0},
    {DType::q1_0, PackFormat::q1_0},
};

uint8_t* bytes_of_group(std::byte* group) { return reinterpret_cast<uint8_t*>(group); }

/// Where block `block` of lane `lane` goes.
struct LanePlace {
  uint8_t* head;
  uint8_t* sub;
  uint8_t* levels;
};

LanePlace lane_place(const PackLayout& layout, uint8_t* group, int64_t k, int64_t block) {
  const int64_t super = block / layout.blocks;
  const int64_t index = block % layout.blocks;
  uint8_t* body = group + pack_body_offset(layout, k) + super * pack_body_bytes(layout);
  return {group + super * layout.head_bytes, body + index * layout.sub_bytes,
          body + layout.blocks * layout.sub_bytes + index * layout.level_bytes};
}

void put(uint8_t* plane, int line, int lane, uint32_t word) { std::memcpy(plane + 64 * line + 4 * lane, &word, 4); }

void store_nibbles(const LaneWords& words, int lane, uint8_t* to) {
  for (int j = 0; j < 4; ++j) {
    put(to, j, lane, (words.quad[j] & 0x0F0F0F0F) | (words.quad[j + 4] & 0x0F0F0F0F) << 4);
  }
}

void store_two_bits(const LaneWords& words, int shift, int lane, uint8_t* to) {
  for (int h = 0; h < 2; ++h) {
    uint32_t line = 0;
    for (int f = 0; f < 4; ++f) line |= (words.quad[4 * h + f] >> shift & 0x03030303) << 2 * f;
    put(to, h, lane, line);
  }
}

void store_one_bit(const LaneWords& words, int shift, int lane, uint8_t* to) {
  uint32_t line = 0;
  for (int j = 0; j < 8; ++j) line |= (words.quad[j] >> shift & 0x01010101) << j;
  put(to, 0, lane, line);
}

void store_three_bits(const LaneWords& words, int lane, uint8_t* to) {
  const uint32_t last = words.quad[6] | words.quad[7] << 3;
  for (int p = 0; p < 3; ++p) {
    const uint32_t rest = last >> 2 * p & 0x03030303;
    put(to, p, lane, words.quad[2 * p] | words.quad[2 * p + 1] << 3 | rest << 6);
  }
}

void store_levels(LevelKind kind, const LaneWords& words, int lane, uint8_t* to) {
  switch (kind) {
    case LevelKind::nibbles:
    case LevelKind::nibbles_table:
    case LevelKind::nibbles_doubled:
      store_nibbles(words, lane, to);
      break;
    case LevelKind::nibbles_one_bit:
      store_nibbles(words, lane, to);
      store_one_bit(words, 4, lane, to + 256);
      break;
    case LevelKind::nibbles_two_bits:
      store_nibbles(words, lane, to);
      store_two_bits(words, 4, lane, to + 256);
      break;
    case LevelKind::one_bit_doubled:
      store_one_bit(words, 0, lane, to);
      break;
    case LevelKind::two_bits:
    case LevelKind::two_bits_delta:
      store_two_bits(words, 0, lane, to);
      break;
    case LevelKind::three_bits:
    case LevelKind::three_bits_table:
      store_three_bits(words, lane, to);
      break;
    case LevelKind::bytes:
      for (int j = 0; j < 8; ++j) put(to, j, lane, words.quad[j]);
      break;
    case LevelKind::none:
      break;
  }
}

void store_head(HeadKind kind, const LaneScales& scales, int lane, uint8_t* to) {
  if (kind == HeadKind::e8m0 || kind == HeadKind::ue4m3s) {
    to[lane] = static_cast<uint8_t>(scales.d);
    if (kind == HeadKind::ue4m3s) to[16 + lane] = static_cast<uint8_t>(scales.m);
    return;
  }
  std::memcpy(to + 2 * lane, &scales.d, 2);
  if (kind != HeadKind::d) std::memcpy(to + 32 + 2 * lane, &scales.m, 2);
}

void pack_lane(DType dtype, const std::byte* row, int64_t k, int lane, uint8_t* group) {
  const PackLayout& layout = pack_layout(pack_format(dtype));
  const int n_sub = layout.sub_bytes / kGroupRows;
  for (int64_t block = 0; block < k / 32; ++block) {
    const LanePlace place = lane_place(layout, group, k, block);
    store_levels(layout.levels, read_lane_words(dtype, row, block), lane, place.levels);
    for (int s = 0; s < n_sub; ++s) place.sub[16 * s + lane] = read_sub_scale(dtype, row, block, s);
    if (block % layout.blocks != 0) continue;
    store_head(layout.head, read_lane_scales(dtype, row, block), lane, place.head);
  }
}

template <typename T>
void pack_plain_lane(const std::byte* row, int64_t k, int lane, uint8_t* group) {
  for (int64_t e = 0; e < k; ++e) {
    std::memcpy(group + (kGroupRows * e + lane) * static_cast<int64_t>(sizeof(T)),
                row + e * static_cast<int64_t>(sizeof(T)), sizeof(T));
  }
}

}  // namespace

PackFormat pack_format(DType dtype) {
  const auto found = std::ranges::find(kTypeFormats, dtype, &TypeFormat::dtype);
  if (found == std::end(kTypeFormats)) {
    fail(ErrorCode::unsupported, "tensors of type {} cannot be weights of a matrix product", traits(dtype).name);
  }
  return found->format;
}

uint64_t group_bytes(PackFormat format, int64_t k) noexcept {
  return static_cast<uint64_t>(pack_group_bytes(pack_layout(format), k));
}

void pack_group(DType dtype, std::span<const std::byte> rows, int64_t k, std::byte* out) {
  const PackFormat format = pack_format(dtype);
  const uint64_t row_bytes = bytes_of(dtype, static_cast<uint64_t>(k));
  const int n_rows = static_cast<int>(rows.size() / row_bytes);
  uint8_t* group = bytes_of_group(out);
  if (n_rows < kGroupRows) std::memset(group, 0, group_bytes(format, k));
  for (int lane = 0; lane < n_rows; ++lane) {
    const std::byte* row = rows.data() + static_cast<uint64_t>(lane) * row_bytes;
    if (format == PackFormat::f32) {
      pack_plain_lane<uint32_t>(row, k, lane, group);
    } else if (format <= PackFormat::bf16) {
      pack_plain_lane<uint16_t>(row, k, lane, group);
    } else {
      pack_lane(dtype, row, k, lane, group);
    }
  }
}

void unpack_row(PackFormat format, const std::byte* group, int row, std::span<float> out) {
  const auto k = static_cast<int64_t>(out.size());
  const auto* bytes = reinterpret_cast<const uint8_t*>(group);
  const PackLayout& layout = pack_layout(format);
  if (layout.blocks == 0) {
    for (int64_t e = 0; e < k; ++e) out[static_cast<size_t>(e)] = read_float_weight(format, bytes, e, row);
    return;
  }
  for (int64_t block = 0; block < k / 32; ++block) {
    const LaneBlock lane = read_lane(format, bytes, k, block, row);
    for (int e = 0; e < 32; ++e) {
      const float product = lane.scale[e / 16] * static_cast<float>(lane.q[e]);
      // Adding a minimum of +0 would turn a product of -0 into +0.
      out[static_cast<size_t>(32 * block + e)] = layout.has_min ? product + lane.min[e / 16] : product;
    }
  }
}

}  // namespace brisk::cpu
