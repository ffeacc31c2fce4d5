#pragma once

#include "cli/log.hpp"
#include "engine/request.hpp"

namespace brisk::cli {

/// sum += part, field by field.
void add(engine::Timings& sum, const engine::Timings& part);

/// The block of lines that llama.cpp's programs end with and scripts search.
void report_timings(Log& log, const engine::Timings& timings, double load_ms);

/// "prompt 12 tokens, 410.3 t/s | answer 64 tokens, 95.1 t/s | loaded in 0.12 s"
std::string timing_line(const engine::Timings& timings, double load_ms);

/// Tokens per second; 0 when nothing was measured.
double rate(int32_t n, double ms);

}  // namespace brisk::cli
