#include "belos_ext/choice/arm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "belos_ext/spectrum/spectrum_estimate.hpp"

namespace capstan {

namespace {

/// Values that are worth a trial.
struct Variation {
  const char* key;
  std::vector<int> values;
};
const std::vector<Variation>& variations() {
  static const std::vector<Variation> all = {{"Pipeline Depth", {1, 2, 3}}, {"Polynomial Degree", {1, 4}}};
  return all;
}

/// Iterations to those of CG or GMRES, and the spread of the logarithm. What has the same Krylov space has the same
/// iterations, but for rounding, restarts and the iterations that fill a pipeline.
struct Relation {
  double ratio, spread;
};
Relation relationOf(const MethodTraits& method, const SolverOptions& options) {
  Relation relation{1.0, 0.03};
  if (method.family == Family::BiCgStab) relation = {0.6, 0.4};  // two products
  if (method.family == Family::Idr) relation = {1.15, 0.3};
  if (method.is(Trait::Directions)) relation = {std::pow(options.enlargingFactor, -0.2), 0.3};
  if (const double degree = options.polynomialDegree; degree > 1) {
    relation.ratio *= (1 + 0.1 * std::log2(degree)) / degree;
    relation.spread += 0.25;
  }
  return relation;
}

/// An arm for each combination of these values. \param from the first variation that is not in `arm` yet
void vary(const Arm& arm, std::size_t from, const Parameters& given, std::vector<Arm>& arms) {
  if (from == variations().size()) {
    arms.push_back(arm);
    return;
  }
  const Variation& variation = variations()[from];
  if (!arm.method->takes(variation.key) || given.isGiven(variation.key)) {
    vary(arm, from + 1, given, arms);
    return;
  }
  for (const int value : variation.values) {
    Arm one = arm;
    if (value != variation.values.front()) one.parameters.emplace_back(variation.key, value);  // the first: the default
    vary(one, from + 1, given, arms);
  }
}

/// Whether the method can be made with what is given, a flexible form for example.
bool isPossible(const Arm& arm, const Parameters& given) {
  try {
    Parameters(*arm.method).merge(parametersOf(arm, *given.current()));
    return true;
  } catch (const std::invalid_argument&) {
    return false;  // what is wrong with all of them, CAPSTAN's own parameters have said
  }
}

}  // namespace

std::string nameOf(const Arm& arm) {
  std::string name = arm.method->canonical;
  for (const auto& [key, value] : arm.parameters) name += fmt::format(", {} {}", key, value);
  return name;
}

std::vector<Arm> armsFor(const Parameters& given, Symmetry symmetry) {
  std::vector<Arm> arms;
  for (const MethodTraits& method : methods()) {
    if (symmetry != Symmetry::None || !method.needsSymmetric) vary({&method, {}}, 0, given, arms);
  }
  arms.erase(std::remove_if(arms.begin(), arms.end(), [&](const Arm& arm) { return !isPossible(arm, given); }),
             arms.end());
  // What goes on where others cannot begins: CG, and of the others GMRES, which has no next.
  const bool symmetricFirst = symmetry == Symmetry::Likely;
  const auto rank = [=](const Arm& arm) { return arm.method->needsSymmetric == symmetricFirst ? 0 : 1; };
  const auto begins = [](const Arm& arm) {
    return arm.parameters.empty() && std::any_of(methods().begin(), methods().end(), [&](const MethodTraits& other) {
             return other.next == arm.method->canonical;
           });
  };
  std::stable_sort(arms.begin(), arms.end(), [&](const Arm& a, const Arm& b) {
    return rank(a) != rank(b) ? rank(a) < rank(b) : begins(a) && !begins(b);
  });
  return arms;
}

ArmModel modelOf(const Arm& arm, const Parameters& given, bool preconditioned) {
  Parameters parameters(*arm.method);
  parameters.merge(parametersOf(arm, *given.current()));
  return modelOf(arm, parameters.options(), preconditioned);
}

ArmModel modelOf(const Arm& arm, SolverOptions options, bool preconditioned) {
  options.outputStream = Teuchos::null;  // what is kept with the communicator must not keep an application's file open
  const Relation relation = relationOf(*arm.method, options);
  const auto iteration = [options, method = arm.method, preconditioned](int iterations) {
    SolverOptions own = options;
    own.numBlocks = std::max(std::min(own.numBlocks, iterations), method->takes("Step Size") ? own.stepSize : 1);
    IterationCost cost{method->cost(own, preconditioned), method->pipelined,
                       method->takes("Pipeline Depth") ? own.pipelineDepth : 1};
    // What fills a pipeline is made once a solve.
    cost.cost.operators += cost.cost.ahead / std::max(1, iterations);
    cost.cost.preconditioners += cost.cost.ahead / std::max(1, iterations);
    // An application to a block counts once there. A product reads the matrix once, and several vectors.
    if (method->is(Trait::Directions)) {
      cost.cost.operators *= 0.5 * (1 + own.enlargingFactor);
      cost.cost.preconditioners *= own.enlargingFactor;
    }
    return cost;
  };
  ArmModel model{nameOf(arm),    iteration,      toString(arm.method->family), arm.method->needsSymmetric,
                 relation.ratio, relation.spread};
  const bool needsSpectrum = options.polynomialDegree > 1 || arm.method->takes("Pipeline Depth");
  if (needsSpectrum) model.first = tuning::spectrum::steps;
  return model;
}

Teuchos::ParameterList parametersOf(const Arm& arm, const Teuchos::ParameterList& given) {
  Teuchos::ParameterList list;
  for (const auto& item : given) {
    const ParameterRow* row = findParameter(item.first);
    if (row != nullptr && row->appliesTo(*arm.method) && !item.second.isDefault()) {
      list.setEntry(row->name, item.second);
    }
  }
  for (const auto& [key, value] : arm.parameters) list.set(key, value);
  return list;
}

}  // namespace capstan
