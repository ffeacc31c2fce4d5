#include "quant/codec.hpp"

#include <bit>

#include "base/error.hpp"
#include "quant/block_formats.hpp"

namespace brisk {

static_assert(std::endian::native == std::endian::little, "block fields are read as they lie in the file");

namespace {

struct BlockFormat {
  quant::ReadLevels* read = nullptr;
  bool has_min = false;
};

constexpr BlockFormat block_format(DType dtype) noexcept {
  switch (dtype) {
    case DType::q4_0:
      return {quant::q4_0};
    case DType::q4_1:
      return {quant::q4_1, true};
    case DType::q5_0:
      return {quant::q5_0};
    case DType::q5_1:
      return {quant::q5_1, true};
    case DType::q8_0:
      return {quant::q8_0};
    case DType::q8_1:
      return {quant::q8_1};
    case DType::q2_k:
      return {quant::q2_k, true};
    case DType::q3_k:
      return {quant::q3_k};
    case DType::q4_k:
      return {quant::q4_k, true};
    case DType::q5_k:
      return {quant::q5_k, true};
    case DType::q6_k:
      return {quant::q6_k};
    case DType::q8_k:
      return {quant::q8_k};
    case DType::iq2_xxs:
      return {quant::iq2_xxs};
    case DType::iq2_xs:
      return {quant::iq2_xs};
    case DType::iq3_xxs:
      return {quant::iq3_xxs};
    case DType::iq1_s:
      return {quant::iq1_s};
    case DType::iq4_nl:
      return {quant::iq4_nl};
    case DType::iq3_s:
      return {quant::iq3_s};
    case DType::iq2_s:
      return {quant::iq2_s};
    case DType::iq4_xs:
      return {quant::iq4_xs};
    case DType::iq1_m:
      return {quant::iq1_m};
    case DType::tq1_0:
      return {quant::tq1_0};
    case DType::tq2_0:
      return {quant::tq2_0};
    case DType::mxfp4:
      return {quant::mxfp4};
    case DType::nvfp4:
      return {quant::nvfp4};
    case DType::q1_0:
      return {quant::q1_0};
    case DType::q2_0:
      return {quant::q2_0};
    default:
      return {};
  }
}

void decode_quantized(const DTypeTraits& type, const BlockFormat& format, const std::byte* blocks,
                      std::span<float> out) {
  const auto parts = static_cast<int>(type.block_length / 32);
  Levels levels;
  for (size_t at = 0; at < out.size(); at += type.block_length, blocks += type.block_bytes) {
    for (int part = 0; part < parts; ++part) {
      format.read(blocks, part, levels);
      float* values = out.data() + at + 32 * static_cast<size_t>(part);
      for (int i = 0; i < 32; ++i) values[i] = levels.scale[i / 16] * static_cast<float>(levels.q[i]);
      // Kept apart: adding a zero minimum would turn -0 into +0.
      for (int i = 0; format.has_min && i < 32; ++i) values[i] += levels.min[i / 16];
    }
  }
}

template <typename Stored, typename Convert>
void decode_plain(const std::byte* in, std::span<float> out, Convert convert) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = convert(quant::load<Stored>(in, i * sizeof(Stored)));
}

template <typename Stored>
void decode_number(const std::byte* in, std::span<float> out) {
  decode_plain<Stored>(in, out, [](Stored value) { return static_cast<float>(value); });
}

}  // namespace

void decode(DType dtype, const std::byte* blocks, std::span<float> out) {
  const DTypeTraits& type = traits(dtype);
  BRISK_CHECK(out.size() % type.block_length == 0, "rows of a block format are whole blocks");
  switch (dtype) {
    case DType::f32:
      return decode_number<float>(blocks, out);
    case DType::f64:
      return decode_number<double>(blocks, out);
    case DType::f16:
      return decode_plain<uint16_t>(blocks, out, f16_to_f32);
    case DType::bf16:
      return decode_plain<uint16_t>(blocks, out, bf16_to_f32);
    case DType::i8:
      return decode_number<int8_t>(blocks, out);
    case DType::i16:
      return decode_number<int16_t>(blocks, out);
    case DType::i32:
      return decode_number<int32_t>(blocks, out);
    case DType::i64:
      return decode_number<int64_t>(blocks, out);
    default:
      break;
  }
  const BlockFormat format = block_format(dtype);
  BRISK_CHECK(format.read != nullptr, "every quantized type has a decoder");
  decode_quantized(type, format, blocks, out);
}

void decode_levels(DType dtype, const std::byte* row, int64_t index, Levels& out) {
  const DTypeTraits& type = traits(dtype);
  const BlockFormat format = block_format(dtype);
  BRISK_CHECK(format.read != nullptr, "levels exist for quantized types only");
  const auto parts = static_cast<int64_t>(type.block_length / 32);
  format.read(row + index / parts * type.block_bytes, static_cast<int>(index % parts), out);
}

}  // namespace brisk
