#include <algorithm>
#include <cstdlib>
#include <locale>
#include <sstream>

#include "perf/latency/settings.hpp"

namespace capstan::latency {

int hops(const MessageSettings& settings, int from, int to) {
  if (settings.shape == MessageSettings::Shape::Nodes)
    return from / settings.nodeSize == to / settings.nodeSize ? 0 : 1;
  int total = 0;
  for (const int size : settings.torus) {
    const int apart = std::abs(from % size - to % size);
    total += std::min(apart, size - apart);
    from /= size;
    to /= size;
  }
  return total;
}

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
  const auto& messages = settings.messages;
  if (messages.shape != MessageSettings::Shape::Off) {
    text << " received messages at least " << messages.base * 1e6 << " us + " << messages.hop * 1e6 << " us a hop";
    if (messages.secondsPerByte > 0) text << " + bytes / (" << 1e-9 / messages.secondsPerByte << " GB/s)";
    if (messages.shape == MessageSettings::Shape::Torus) {
      text << " on a torus " << messages.torus[0] << "x" << messages.torus[1] << "x" << messages.torus[2] << ";";
    } else {
      text << " between nodes of " << messages.nodeSize << " ranks;";
    }
  }
  if (!settings.on()) text << " none;";
  text << (settings.yield ? " waiting yields the processor" : " waiting spins");
  return text.str();
}

}  // namespace capstan::latency
