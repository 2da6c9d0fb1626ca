/// \file
/// oracle_table: how many iterations solvers need on matrices from files where outside implementations (the oracles)
/// converge. One line of CSV for each matrix and preconditioner; perf/oracle/run starts it and judges the lines.
///
/// A cell is the count of iterations where the solver says that it converged and the residual computed here agrees;
/// else the count, what became of the solve, and that residual: "900 stagnation 3.1e-07". Empty: not asked, since no
/// oracle converged. With several right-hand sides a cell has a part for each, in their order: "118/121/119".
///
/// A line "CLASSICAL matrix,rows,preconditioner,ranks,which,solves,before,iterations" follows where a judged solver, by
/// its number from 0, went on as a classical method in some of its solves: how many, and of all iterations of all its
/// solves those before.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <BelosLinearProblem.hpp>
#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <CLI/CLI.hpp>
#include <Teuchos_XMLParameterListHelpers.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "adapters/deck/systems.hpp"
#include "adapters/preconditioners/parameter_messages.hpp"
#include "adapters/preconditioners/preconditioner.hpp"
#include "adapters/preconditioners/presets.hpp"
#include "adapters/tools/program.hpp"
#include "belos_ext/report/solve_report.hpp"

namespace {

namespace deck = capstan::deck;
using deck::Matrix;
using deck::MultiVector;
using Factory = Belos::SolverFactory<double, MultiVector, deck::Operator>;
using Problem = Belos::LinearProblem<double, MultiVector, deck::Operator>;

/// A computed residual agrees with the claim up to this factor: the norm a solver tests is computed another way.
constexpr double agreement = 1 + 1e-3;

struct Arguments {
  std::vector<std::string> matrices, preconditioners = {"none"}, oracles, solvers, known;
  std::string side = "right", common;
  double tolerance = 1e-8;
  int maxIterations = 3000, seeds = 1, firstSeed = 1;
  std::string rhs = "image";
};

/// A solver as given on the command line: its name, then parameters as YAML: "CAPSTAN CG PIPELINE: {Pipeline Depth:
/// 3}".
struct Contestant {
  std::string name;
  YAML::Node parameters;
};

Contestant contestant(const std::string& text) {
  const auto colon = text.find(": ");
  if (colon == std::string::npos) return {text, YAML::Node()};
  return {text.substr(0, colon), YAML::Load(text.substr(colon + 2))};
}

void enter(const YAML::Node& parameters, Teuchos::ParameterList& list) {
  for (const auto& item : parameters) {
    const auto key = item.first.as<std::string>();
    int whole = 0;
    double real = 0;
    bool flag = false;
    if (YAML::convert<int>::decode(item.second, whole)) {
      list.set(key, whole);
    } else if (YAML::convert<double>::decode(item.second, real)) {
      list.set(key, real);
    } else if (YAML::convert<bool>::decode(item.second, flag)) {
      list.set(key, flag);
    } else {
      list.set(key, item.second.as<std::string>());
    }
  }
}

double norm(const MultiVector& v) {
  double result = 0;
  v.norm2(Teuchos::ArrayView<double>(&result, 1));
  return result;
}

struct System {
  Teuchos::RCP<Matrix> A;
  std::vector<Teuchos::RCP<MultiVector>> b;  ///< one for each seed
  Teuchos::RCP<deck::Operator> preconditioner;
};

/// One cell of the table: a solve from the zero guess.
struct Cell {
  bool converged = false;
  std::string text;
  int iterations = 0;
  int classicalFrom = -1;  ///< the iteration after which the method went on as a classical one; -1: never
};

std::string plain(std::string text) {
  text = capstan::preconditioning::plainMessage(text).substr(0, 80);
  for (char& c : text) c = c == ',' || c == '/' || c == '"' ? ';' : c;
  return text;
}

int classicalFrom(const capstan::SolveReport& report) {
  using capstan::EventKind;
  for (const auto& event : report.events) {
    const bool goesOn = event.what == EventKind::HandedOver || event.what == EventKind::RecurrencesLost;
    if (goesOn || event.what == EventKind::ClassicalFromStart) return event.iteration;
  }
  return -1;
}

Cell solve(const Arguments& arguments, const Contestant& wanted, const System& system,
           const Teuchos::RCP<const MultiVector>& b) {
  const auto parameters = Teuchos::rcp(new Teuchos::ParameterList);
  parameters->set("Convergence Tolerance", arguments.tolerance);
  parameters->set("Maximum Iterations", arguments.maxIterations);
  enter(YAML::Load(arguments.common), *parameters);
  enter(wanted.parameters, *parameters);
  const auto x = Teuchos::rcp(new MultiVector(system.A->getDomainMap(), 1));
  const auto problem = Teuchos::rcp(new Problem(system.A, x, b));
  problem->setLabel(wanted.name);
  if (!system.preconditioner.is_null()) {
    arguments.side == "left" ? problem->setLeftPrec(system.preconditioner)
                             : problem->setRightPrec(system.preconditioner);
  }
  problem->setProblem();
  try {
    const auto manager = Factory().create(wanted.name, parameters);
    manager->setProblem(problem);
    const bool claimed = manager->solve() == Belos::Converged;
    MultiVector r(*b, Teuchos::Copy);
    system.A->apply(*x, r, Teuchos::NO_TRANS, -1.0, 1.0);
    const double relative = norm(r) / norm(*b);
    const int iterations = manager->getNumIters();
    const auto* own = dynamic_cast<const capstan::ReportingSolver*>(manager.get());
    const int classical = own != nullptr ? classicalFrom(own->report()) : -1;
    if (claimed && relative <= agreement * arguments.tolerance) {
      return {true, fmt::format("{}", iterations), iterations, classical};
    }
    std::string reason = claimed ? "claimed" : "no";
    if (own != nullptr && !claimed) reason = capstan::toString(own->report().reason);
    return {false, fmt::format("{} {} {:.1e}", iterations, plain(reason), relative), iterations, classical};
  } catch (const std::exception& error) {
    return {false, "failed: " + plain(error.what()), 0, -1};
  }
}

/// The cell of an oracle, all right-hand sides; notes which of them it solves.
std::string oracleCell(const Arguments& arguments, const std::string& wanted, const System& system,
                       std::vector<bool>& solvable) {
  std::string text;
  for (std::size_t k = 0; k < system.b.size(); ++k) {
    const Cell cell = solve(arguments, contestant(wanted), system, system.b[k]);
    solvable[k] = solvable[k] || cell.converged;
    text += (k == 0 ? "" : "/") + cell.text;
  }
  return text;
}

/// Of several solves.
struct Classical {
  int solves = 0;  ///< that went on as a classical method
  int before = 0, iterations = 0;
};

/// The cell of a solver that is judged, of the right-hand sides that an oracle solves.
std::string judgedCell(const Arguments& arguments, const std::string& wanted, const System& system,
                       const std::vector<bool>& solvable, Classical& classical) {
  if (std::none_of(solvable.begin(), solvable.end(), [](bool yes) { return yes; })) return "";
  std::string text;
  for (std::size_t k = 0; k < system.b.size(); ++k) {
    if (k > 0) text += '/';
    if (!solvable[k]) continue;
    const Cell cell = solve(arguments, contestant(wanted), system, system.b[k]);
    text += cell.text;
    classical.solves += cell.classicalFrom >= 0 ? 1 : 0;
    classical.before += cell.classicalFrom >= 0 ? cell.classicalFrom : cell.iterations;
    classical.iterations += cell.iterations;
  }
  return text;
}

/// What is known of the oracles: "matrix,preconditioner,oracle,cell".
std::map<std::string, std::string> knownCells(const std::vector<std::string>& texts) {
  std::map<std::string, std::string> known;
  for (const std::string& text : texts) {
    const auto last = text.rfind(',');
    if (last != std::string::npos) known[text.substr(0, last)] = text.substr(last + 1);
  }
  return known;
}

/// A preconditioner as named on the command line: as in a deck, or "muelu:" and a preset or XML file. Collective.
deck::PreconditionerOptions preconditionerOptions(const std::string& name) {
  deck::PreconditionerOptions options;
  const auto colon = name.find(':');
  options.name = name.substr(0, colon);
  if (colon == std::string::npos) return options;
  const std::string wanted = name.substr(colon + 1), file = deck::findMueLuFile(wanted, {}).path;
  if (options.name != "muelu" || file.empty()) {
    throw deck::PreconditionerError("preconditioner " + name + ": only muelu has a preset, one of " +
                                    fmt::format("{}", fmt::join(deck::mueLuPresets(), ", ")));
  }
  options.origin = file;
  options.parameters = *Teuchos::getParametersFromXmlFile(file);
  return options;
}

void measure(const Arguments& arguments, const std::string& file, bool talks) {
  const auto known = knownCells(arguments.known);
  const std::string path = std::filesystem::path(file).filename();
  const std::string name = path.substr(0, path.find(".mtx"));
  System system;
  system.A = deck::readMatrix(file, Tpetra::getDefaultComm());
  MultiVector solution(system.A->getDomainMap(), 1);
  for (int k = 0; k < arguments.seeds; ++k) {
    system.b.push_back(Teuchos::rcp(new MultiVector(system.A->getRangeMap(), 1)));
    deck::fillRandom(arguments.rhs == "random" ? *system.b.back() : solution, arguments.firstSeed + k);
    if (arguments.rhs == "image") system.A->apply(solution, *system.b.back());
  }
  for (const std::string& preconditioner : arguments.preconditioners) {
    const std::string key =
        fmt::format("{},{},{},{}", name, system.A->getGlobalNumRows(), preconditioner, system.A->getComm()->getSize());
    std::string line = key;
    std::vector<bool> solvable(system.b.size(), false);
    try {
      deck::Preconditioner built(preconditionerOptions(preconditioner));
      built.update(system.A);
      system.preconditioner = built.op();
      for (const std::string& oracle : arguments.oracles) {
        const auto before = known.find(name + "," + preconditioner + "," + oracle);
        if (before == known.end()) {
          line += "," + oracleCell(arguments, oracle, system, solvable);
          continue;
        }
        solvable[0] = solvable[0] || before->second.find_first_not_of("0123456789") == std::string::npos;
        line += "," + before->second;
      }
    } catch (const deck::PreconditionerError& error) {
      for (std::size_t i = 0; i < arguments.oracles.size(); ++i) line += ",failed: " + plain(error.what());
    }
    std::vector<Classical> classical(arguments.solvers.size());
    for (std::size_t i = 0; i < arguments.solvers.size(); ++i) {
      line += "," + judgedCell(arguments, arguments.solvers[i], system, solvable, classical[i]);
    }
    if (talks) fmt::print("ROW {}\n", line);
    for (std::size_t i = 0; i < classical.size(); ++i) {
      const auto& [solves, before, iterations] = classical[i];
      if (talks && solves > 0) fmt::print("CLASSICAL {},{},{},{},{}\n", key, i, solves, before, iterations);
    }
    std::fflush(stdout);
  }
}

int run(int argc, char** argv, bool talks) {
  Arguments arguments;
  CLI::App app{"Iterations of solvers where oracles converge, as lines of CSV that start with ROW.", "oracle_table"};
  const auto several = [&](const char* option, std::vector<std::string>& values, const char* help) {
    return app.add_option(option, values, help)->take_all()->allow_extra_args(false)->expected(1);
  };
  app.add_option("matrices", arguments.matrices, "Matrix Market files")->required();
  app.add_option("--preconditioners", arguments.preconditioners, "names as in a deck; muelu:PRESET")->delimiter(',');
  several("--oracle", arguments.oracles, "a solver to compare with, as NAME or 'NAME: {parameter: value}'")->required();
  several("--solver", arguments.solvers, "a solver to be judged, likewise");
  several("--known", arguments.known, "MATRIX,PRECONDITIONER,ORACLE,CELL: from an earlier run");
  app.add_option("--common", arguments.common, "parameters of all solvers, as YAML");
  app.add_option("--side", arguments.side, "of the preconditioner")->check(CLI::IsMember({"left", "right"}));
  app.add_option("--tolerance", arguments.tolerance, "of || b - A x || / || b ||");
  app.add_option("--max-iterations", arguments.maxIterations, "of every solve");
  app.add_option("--seeds", arguments.seeds, "right-hand sides: A times so many random vectors")
      ->check(CLI::Range(1, 100));
  app.add_option("--first-seed", arguments.firstSeed, "the number of the first random vector")
      ->check(CLI::PositiveNumber);
  app.add_option("--rhs", arguments.rhs, "image: A times a random vector; random: the vector itself")
      ->check(CLI::IsMember({"image", "random"}));
  app.get_option("--known")->excludes("--seeds")->excludes("--first-seed");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (talks) app.exit(error);
    return error.get_exit_code() == 0 ? 0 : capstan::tools::exitMisuse;
  }
  for (const std::string& file : arguments.matrices) measure(arguments, file, talks);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return capstan::tools::runProgram("oracle_table", argc, argv, run); }
