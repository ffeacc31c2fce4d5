#include "cli/timing_report.hpp"

#include <algorithm>

namespace brisk::cli {
namespace {

// The first token of an answer comes out of the prompt's run.
int32_t decode_runs(const engine::Timings& timings) { return std::max(0, timings.predicted_n - 1); }

std::string rated_line(std::string_view label, double ms, int32_t n, std::string_view unit) {
  const double each = n > 0 ? ms / n : 0.0;
  const std::string speed = ms > 0.0 ? fmt::format("{:8.2f}", n * 1e3 / ms) : "     inf";
  return fmt::format("common_perf_print: {:>16} = {:10.2f} ms / {:5} {}( {:8.2f} ms per token, {} tokens per second)",
                     label, ms, n, unit, each, speed);
}

}  // namespace

void add(engine::Timings& sum, const engine::Timings& part) {
  sum.cached_n += part.cached_n;
  sum.prompt_n += part.prompt_n;
  sum.prompt_ms += part.prompt_ms;
  sum.predicted_n += part.predicted_n;
  sum.predicted_ms += part.predicted_ms;
}

void report_timings(Log& log, const engine::Timings& timings, double load_ms) {
  const int32_t runs = decode_runs(timings);
  log.info("{}", "");
  log.info("common_perf_print: {:>16} = {:10.2f} ms", "load time", load_ms);
  log.info("{}", rated_line("prompt eval time", timings.prompt_ms, timings.prompt_n, "tokens "));
  log.info("{}", rated_line("eval time", timings.predicted_ms, runs, "runs   "));
  log.info("common_perf_print: {:>16} = {:10.2f} ms / {:5} tokens", "total time",
           timings.prompt_ms + timings.predicted_ms, timings.prompt_n + runs);
}

std::string timing_line(const engine::Timings& timings, double load_ms) {
  const int32_t runs = decode_runs(timings);
  return fmt::format("prompt {} tokens, {:.1f} t/s | answer {} tokens, {:.1f} t/s | loaded in {:.2f} s",
                     timings.prompt_n + timings.cached_n, rate(timings.prompt_n, timings.prompt_ms),
                     timings.predicted_n, rate(runs, timings.predicted_ms), load_ms / 1e3);
}

double rate(int32_t n, double ms) { return ms > 0.0 ? n * 1e3 / ms : 0.0; }

}  // namespace brisk::cli
