#include <locale>
#include <sstream>

#include "perf/latency/settings.hpp"

namespace capstan::latency {

std::string describe(const Settings& settings) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  const auto& model = settings.collectives;
  text << "emulated latency:";
  if (model.on && model.fixed) text << " all-reduce at least " << model.alpha * 1e6 << " us;";
  if (model.on && !model.fixed) {
    text << " all-reduce at least " << model.alpha * 1e6 << " us log2(P), P = ";
    text << (model.processes > 0 ? std::to_string(model.processes) : "ranks");
    if (model.secondsPerByte > 0) text << ", + bytes / (" << 1e-9 / model.secondsPerByte << " GB/s)";
    if (model.noise.kind != Noise::Kind::None) {
      text << ", + "
           << (model.noise.kind == Noise::Kind::Uniform ? "uniform noise up to " : "exponential noise of mean ")
           << model.noise.scale * 1e6 << " us, seed " << model.seed;
    }
    text << ";";
  }
  if (settings.barriers) text << " barriers likewise;";
  if (!settings.on()) text << " none;";
  text << (settings.yield ? " waiting yields the processor" : " waiting spins");
  return text.str();
}

}  // namespace capstan::latency
