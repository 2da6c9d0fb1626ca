#include "adapters/deck/deck.hpp"

#include <gtest/gtest.h>

#include <Teuchos_Array.hpp>
#include <Tpetra_Core.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_MultiVector.hpp>
#include <string>

#include "adapters/deck/system_size.hpp"
#include "adapters/deck/systems.hpp"
#include "adapters/deck/test/temporary_folder.hpp"

namespace capstan::deck {
namespace {

const std::string twoSolvers = R"(linear_solvers:
  - name: solve_scalar
    type: tpetra
    method: gmres
    preconditioner: sgs
    tolerance: 1e-5
    max_iterations: 75
    kspace: 25
  - name: solve_cont
    method: sstep_gmres
    krylov_step_size: 4
    tolerance: 1e-5
    final_tolerance: 1e-7
    recompute_preconditioner: no
    reuse_preconditioner: yes
systems:
  - generate: laplace2d
)";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class DeckTest : public testing::Test {
 protected:
  Deck load(const std::string& text, const std::vector<std::string>& overrides = {}, const std::string& solver = "") {
    return loadDeck({folder_.file("deck.yaml", text), overrides, solver}, Tpetra::getDefaultComm());
  }
  /// What is wrong with a deck, without its folder; empty when nothing is.
  std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {},
                        const std::string& solver = "") {
    try {
      load(text, overrides, solver);
    } catch (const InputError& error) {
      std::string message = error.what();
      const auto at = message.find("/deck.yaml");
      return at == std::string::npos ? message : message.substr(at + 1);
    }
    return "";
  }
  static void expectStart(const std::string& message, const std::string& start) {
    EXPECT_EQ(message.substr(0, start.size()), start) << message;
  }

  test::TemporaryFolder folder_;
};

TEST_F(DeckTest, SaysHowABenchmarkRunsIt) {
  const auto plain = load(twoSolvers).campaign;
  EXPECT_EQ(plain.repeat, 0);
  EXPECT_TRUE(plain.latencies.empty());
  EXPECT_FALSE(plain.changingRightHandSide);
  const std::string text = twoSolvers + "campaign: {repeat: 20, latency: [0, 50.5], right_hand_side: changing}\n";
  const auto asked = load(text, {"campaign.repeat=3"}).campaign;
  EXPECT_EQ(asked.repeat, 3);
  EXPECT_EQ(asked.latencies, (std::vector<double>{0, 50.5}));
  EXPECT_TRUE(asked.changingRightHandSide);
  EXPECT_EQ(load(twoSolvers, {"campaign.repeat=4"}).campaign.repeat, 4) << "a block that the deck lacks";
  expectStart(complaint(replaced(text, "50.5", "2e7")), "deck.yaml:18:33: campaign.latency: found 20000000; allowed: ");
  expectStart(complaint(replaced(text, "repeat", "repeats")), "deck.yaml:18:12: campaign.repeats: unknown key");
}

TEST_F(DeckTest, GivesBelosWhatNaluWindGivesIt) {
  const auto solver = load(twoSolvers).linearSolvers.at(0);
  EXPECT_EQ(solver.method, "gmres");
  const auto& list = solver.parameters;
  EXPECT_EQ(list.get<double>("Convergence Tolerance"), 1e-5);
  EXPECT_EQ(list.get<int>("Maximum Iterations"), 75);
  EXPECT_EQ(list.get<int>("Num Blocks"), 25);
  EXPECT_EQ(list.get<int>("Maximum Restarts"), 3);
  EXPECT_EQ(list.get<std::string>("Orthogonalization"), "ICGS");
  EXPECT_EQ(list.get<std::string>("Implicit Residual Scaling"), "Norm of Preconditioned Initial Residual");
  EXPECT_EQ(solver.preconditioner.name, "sgs");
  EXPECT_TRUE(solver.preconditioner.recompute);
  EXPECT_FALSE(solver.preconditioner.reuse);
  EXPECT_EQ(solver.finalTolerance, 1e-5);
}

TEST_F(DeckTest, TranslatesNaluWindsSStep) {
  const auto solver = load(twoSolvers).linearSolvers.at(1);
  EXPECT_EQ(solver.method, "TPETRA GMRES S-STEP");
  EXPECT_EQ(solver.parameters.get<int>("Step Size"), 4);
  EXPECT_TRUE(solver.parameters.get<bool>("CholeskyQR2"));
  EXPECT_EQ(solver.preconditioner.name, "default");
  EXPECT_EQ(solver.finalTolerance, 1e-7);
  EXPECT_FALSE(solver.preconditioner.recompute);
  EXPECT_TRUE(solver.preconditioner.reuse);
}

TEST_F(DeckTest, GivesASystemTheFirstSolverUnlessToldOtherwise) {
  EXPECT_EQ(load(twoSolvers).systems.at(0).solvers, std::vector<std::size_t>{0});
  EXPECT_EQ(load(twoSolvers + "    solver: solve_cont\n").systems.at(0).solvers, std::vector<std::size_t>{1});
  EXPECT_EQ(load(twoSolvers + "    solvers: all\n").systems.at(0).solvers, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(load(twoSolvers, {}, "all").systems.at(0).solvers, (std::vector<std::size_t>{0, 1}));
}

TEST_F(DeckTest, KeepsTheTypesOfParameters) {
  const auto deck =
      load(replaced(twoSolvers, "    kspace: 25\n",
                    "    kspace: 25\n    parameters: {Timer Label: '7', Deflation Quorum: 1, Show Maximum "
                    "Residual Norm Only: yes}\n"));
  const auto& list = deck.linearSolvers.at(0).parameters;
  EXPECT_EQ(list.get<std::string>("Timer Label"), "7");
  EXPECT_EQ(list.get<int>("Deflation Quorum"), 1);
  EXPECT_TRUE(list.get<bool>("Show Maximum Residual Norm Only"));
}

TEST_F(DeckTest, ReadsListsAndMaps) {
  Diagnostics diagnostics;
  const auto list = readParameters(YAML::Load("{a: [1, 2.5], b: [x, 1], c: {d: 3}}"), Place{}, diagnostics);
  EXPECT_FALSE(diagnostics.failed());
  EXPECT_EQ(list.get<Teuchos::Array<double>>("a")[1], 2.5);
  EXPECT_EQ(list.get<Teuchos::Array<std::string>>("b")[0], "x");
  EXPECT_EQ(list.sublist("c").get<int>("d"), 3);
}

TEST_F(DeckTest, AppliesOverrides) {
  const auto deck = load(twoSolvers, {"tolerance=1e-3", "linear_solvers[1].tolerance=1e-4",
                                      "systems[0].generate={problem: laplace3d, cells: [4, 5, 6]}"});
  EXPECT_EQ(deck.linearSolvers[0].tolerance, 1e-3);
  EXPECT_EQ(deck.linearSolvers[1].tolerance, 1e-4);
  EXPECT_EQ(deck.systems[0].generator->cells, (std::vector<int>{4, 5, 6}));
  const auto one = load(twoSolvers, {"tolerance=1e-3", "parameters.Timer Label=x"}, "solve_scalar");
  EXPECT_EQ(one.linearSolvers[0].tolerance, 1e-3);
  EXPECT_EQ(one.linearSolvers[0].parameters.get<std::string>("Timer Label"), "x");
  EXPECT_EQ(one.linearSolvers[1].tolerance, 1e-5);
}

TEST_F(DeckTest, AnOverrideChangesNoOtherPlaceThatSharesTheValue) {
  const std::string deck = R"(linear_solvers:
  - {name: a, method: gmres, tolerance: &t 1e-6, final_tolerance: *t, parameters: &p {Timer Label: x}}
  - {name: b, method: gmres, tolerance: *t, parameters: *p}
systems:
  - {name: c, generate: &g {problem: laplace2d, cells: &n [3, 3]}}
  - {name: d, generate: *g}
  - {name: e, generate: {problem: laplace2d, cells: *n}}
)";
  const auto changed =
      load(deck, {"linear_solvers[0].tolerance=1e-3", "linear_solvers[1].parameters.Timer Label=y",
                  "systems[0].generate.cells[1]=4", "systems[1].generate.problem=convection_diffusion2d"});
  EXPECT_EQ(changed.linearSolvers[0].tolerance, 1e-3);
  EXPECT_EQ(changed.linearSolvers[0].finalTolerance, 1e-6);
  EXPECT_EQ(changed.linearSolvers[1].tolerance, 1e-6);
  EXPECT_EQ(changed.linearSolvers[0].parameters.get<std::string>("Timer Label"), "x");
  EXPECT_EQ(changed.linearSolvers[1].parameters.get<std::string>("Timer Label"), "y");
  EXPECT_EQ(changed.systems[0].generator->cells, (std::vector<int>{3, 4}));
  EXPECT_EQ(changed.systems[1].generator->cells, (std::vector<int>{3, 3}));
  EXPECT_EQ(changed.systems[2].generator->cells, (std::vector<int>{3, 3}));
  EXPECT_EQ(changed.systems[0].generator->problem, "laplace2d");
  EXPECT_EQ(changed.systems[1].generator->problem, "convection_diffusion2d");
  const auto all = load(deck, {"tolerance=1e-3"}).linearSolvers;
  EXPECT_EQ(all[0].tolerance, 1e-3);
  EXPECT_EQ(all[0].finalTolerance, 1e-6);
  EXPECT_EQ(all[1].tolerance, 1e-3);
}

TEST_F(DeckTest, TellsWhatIsWrongWithAnOverride) {
  expectStart(complaint(twoSolvers, {"tolerance"}), "--set: tolerance: allowed: key=value");
  expectStart(complaint(twoSolvers, {"linear_solvers[7].tolerance=1"}), "--set: linear_solvers[7].tolerance=1: ");
  expectStart(complaint(twoSolvers, {"kspace=none"}), "--set: linear_solvers[0].kspace: found 'none'; allowed: ");
  expectStart(complaint(twoSolvers, {}, "solve_con"), "--solver: found 'solve_con'; allowed: solve_scalar, solve_cont");
}

TEST_F(DeckTest, NamesPlaceValueAndNearestMatch) {
  expectStart(complaint(replaced(twoSolvers, "tolerance: 1e-5", "tolerence: 1e-5")),
              "deck.yaml:6:5: linear_solvers[0].tolerence: unknown key 'tolerence'; allowed: ");
  expectStart(complaint(replaced(twoSolvers, "kspace: 25", "kspace: many")),
              "deck.yaml:8:13: linear_solvers[0].kspace: found 'many'; allowed: a whole number at least 1");
  expectStart(complaint(replaced(twoSolvers, "tolerance: 1e-5", "tolerance: .nan")),
              "deck.yaml:6:16: linear_solvers[0].tolerance: found '.nan'; allowed: a number at least 0");
  const std::string method = complaint(replaced(twoSolvers, "method: gmres", "method: gmress"));
  expectStart(method, "deck.yaml:4:13: linear_solvers[0].method: found 'gmress'; allowed: ");
  EXPECT_NE(method.find("did you mean \"GMRES\"?"), std::string::npos) << method;
  expectStart(complaint(replaced(twoSolvers, "preconditioner: sgs", "preconditioner: sgz")),
              "deck.yaml:5:21: linear_solvers[0].preconditioner: found 'sgz'; allowed: none, ");
}

TEST_F(DeckTest, RefusesMalformedYamlAndRepeatedKeys) {
  expectStart(complaint("linear_solvers: [\n  {name: a\n"), "deck.yaml:3:1: malformed YAML: ");
  expectStart(complaint("just text"), "deck.yaml: found 'just text'; allowed: a map with the blocks");
  expectStart(complaint("systems: []\n"), "deck.yaml: linear_solvers: missing");
  expectStart(complaint(replaced(twoSolvers, "    kspace: 25\n", "    kspace: 25\n    kspace: 30\n")),
              "deck.yaml:9:5: linear_solvers[0].kspace: given twice (first on line 8)");
}

TEST_F(DeckTest, RefusesConflicts) {
  const auto with = [&](const std::string& line) { return replaced(twoSolvers, "    kspace: 25\n", line); };
  expectStart(complaint(with("    krylov_step_size: 5\n")),
              "deck.yaml:8:23: linear_solvers[0].krylov_step_size: has no effect on gmres");
  expectStart(complaint(with("    muelu_xml_file_name: a.xml\n")),
              "deck.yaml:8:26: linear_solvers[0].muelu_xml_file_name: conflicts with preconditioner: sgs");
  expectStart(complaint(with("    parameters: {Maximum Iterations: 5}\n")),
              "deck.yaml:8:38: linear_solvers[0].parameters.Maximum Iterations: conflicts with "
              "linear_solvers[0].max_iterations");
  expectStart(complaint(with("    recompute_preconditioner: yes\n    reuse_preconditioner: yes\n")),
              "deck.yaml:9:27: linear_solvers[0].reuse_preconditioner: conflicts with recompute_preconditioner: yes");
  expectStart(complaint(twoSolvers + "    matrix: a.mtx\n"),
              "deck.yaml:17:15: systems[0].generate: conflicts with matrix");
}

TEST_F(DeckTest, AToleranceAmongTheParametersCounts) {
  const auto with = [&](const std::string& line) {
    return "linear_solvers:\n  - name: a\n    method: capstan_gmres\n" + line + "systems:\n  - generate: laplace2d\n";
  };
  for (const auto& [text, value] : {std::pair{"0", 0.0}, {"1", 1.0}, {"'1e-8'", 1e-8}, {"1e-9", 1e-9}}) {
    const std::string line = std::string("    parameters: {Convergence Tolerance: ") + text + "}\n";
    const auto solver = load(with(line)).linearSolvers.at(0);
    EXPECT_EQ(solver.tolerance, value) << text;
    EXPECT_EQ(solver.finalTolerance, value) << text;
  }
  EXPECT_NE(complaint(with("    parameters: {Convergence Tolerance: small}\n")).find("is not a number"),
            std::string::npos);
  expectStart(complaint(with("    final_tolerance: 1e-10\n    parameters: {Convergence Tolerance: 1e-6}\n")),
              "deck.yaml:5:41: linear_solvers[0].parameters.Convergence Tolerance: conflicts with "
              "linear_solvers[0].final_tolerance; give one of them");
}

TEST_F(DeckTest, ChecksStepSizes) {
  for (const char* wrong : {"0", "1000000", "-3", "two"}) {
    expectStart(complaint(replaced(twoSolvers, "krylov_step_size: 4", std::string("krylov_step_size: ") + wrong)),
                std::string("deck.yaml:11:23: linear_solvers[1].krylov_step_size: found '") + wrong +
                    "'; allowed: a whole number from 1 to 50");
    const std::string own = replaced(twoSolvers, "sstep_gmres", "capstan_sstep_gmres");
    EXPECT_NE(complaint(replaced(own, "krylov_step_size: 4", std::string("krylov_step_size: ") + wrong))
                  .find("allowed: a whole number from 1 to 50, or auto"),
              std::string::npos);
  }
}

TEST_F(DeckTest, ChecksPassedThroughParameters) {
  const auto with = [&](const std::string& line) { return replaced(twoSolvers, "    kspace: 25\n", line); };
  const std::string unknown = complaint(with("    parameters: {Maximum Restart: 5}\n"));
  expectStart(unknown, "deck.yaml:8:35: linear_solvers[0].parameters.Maximum Restart: unknown parameter");
  EXPECT_NE(unknown.find("did you mean \"Maximum Restarts\"?"), std::string::npos) << unknown;
  expectStart(complaint(with("    parameters: {Maximum Restarts: lots}\n")),
              "deck.yaml:8:36: linear_solvers[0].parameters.Maximum Restarts: found 'lots'; allowed: a whole number");
  for (const char* name : {"ilut", "riluk", "chebyshev", "sgs"}) {
    const std::string own = complaint(replaced(with("    preconditioner_parameters: {sweeps: 5}\n"),
                                               "preconditioner: sgs", std::string("preconditioner: ") + name));
    expectStart(own, "deck.yaml:8:41: linear_solvers[0].preconditioner_parameters.sweeps: unknown parameter 'sweeps'");
  }
}

TEST_F(DeckTest, ReportsEverythingAtOnceAndWarnsOfWhatHasNoEffect) {
  const std::string all = complaint("linear_solvers:\n  - {method: x}\nsystems:\n  - {matrix: none.mtx, rhs: on}\n");
  for (const char* part : {"linear_solvers[0].name: missing", "linear_solvers[0].method: found 'x'",
                           "systems[0].rhs: found 'on'", "none.mtx: no such file"}) {
    EXPECT_NE(all.find(part), std::string::npos) << part << " is missing in\n" << all;
  }
  const auto warnings = load(twoSolvers + "    seed: 3\nrealms: []\n").warnings;
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[0].find("realms: has no effect"), std::string::npos) << warnings[0];
  EXPECT_NE(warnings[1].find("systems[0].seed: has no effect"), std::string::npos) << warnings[1];
}

TEST_F(DeckTest, RefusesTwoEntriesOfOneName) {
  expectStart(complaint(replaced(twoSolvers, "name: solve_cont", "name: solve_scalar")),
              "deck.yaml:9:5: linear_solvers[1]: the name 'solve_scalar' is already taken by another solver");
  expectStart(complaint(twoSolvers + "  - generate: laplace2d\n"),
              "deck.yaml:18:5: systems[1]: the name 'laplace2d' is already taken by another system");
  expectStart(complaint(replaced(twoSolvers, "  - generate: laplace2d\n", "  {}\n")),
              "deck.yaml:17:3: systems: found a map; allowed: a list with at least one system");
}

TEST_F(DeckTest, RefusesSystemsThatCannotFitBeforeAnythingIsBuilt) {
  const std::string ranks = std::to_string(Tpetra::getDefaultComm()->getSize());
  for (const char* problem : {"laplace3d", "convection_diffusion3d", "stretched_poisson3d"}) {
    const std::string huge =
        replaced(twoSolvers, "generate: laplace2d", std::string("generate: {problem: ") + problem + ", cells: 100000}");
    const std::string message = complaint(huge);
    expectStart(message,
                "deck.yaml:17:15: systems[0].generate: found cells [100000, 100000, 100000], 1e+15 rows; allowed: at "
                "most ");
    EXPECT_NE(message.find("rows on " + ranks + " rank(s)"), std::string::npos) << message;
  }
  // Nothing overflows on the way, and the files of such a system are still looked at.
  const std::string largest = complaint(replaced(twoSolvers, "generate: laplace2d",
                                                 "{generate: {problem: laplace3d, cells: 2147483647}, rhs: none.mtx}"));
  EXPECT_NE(largest.find("9.904e+27 rows; allowed: at most"), std::string::npos) << largest;
  EXPECT_NE(largest.find("none.mtx: no such file"), std::string::npos) << largest;
}

TEST_F(DeckTest, WeighsGeneratedSystemsAgainstTheMemoryOfTheMachines) {
  EXPECT_GT(machineMemory(), 1e8);
  const auto systems =
      load(replaced(twoSolvers, "generate: laplace2d", "generate: {problem: laplace2d, cells: 1000}")).systems;
  // A million rows of at most five entries: 5 (8 + 8 + 4 + 8) + 8 * 8 bytes each where global numbers take 8.
  const double bytes = 164e6 + 5e6 * sizeof(Tpetra::Map<>::global_ordinal_type);
  EXPECT_EQ(generatedBytes(systems[0]), bytes);
  const auto complaints = [&](double memory) {
    Diagnostics diagnostics;
    checkSystemSizes(systems, systemLimits(*Tpetra::getDefaultComm(), memory), diagnostics);
    return diagnostics.errors();
  };
  EXPECT_TRUE(complaints(bytes + 1e6).empty());
  const auto refused = complaints(bytes / 4);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_NE(refused[0].find("systems[0].generate: found cells [1000, 1000], 1e+06 rows, which take about 0.2 GiB; "
                            "allowed: at most 2.5e+05 rows"),
            std::string::npos)
      << refused[0];
}

TEST_F(DeckTest, FindsPresetsByName) {
  const std::string muelu = replaced(twoSolvers, "preconditioner: sgs", "preconditioner: muelu");
  const auto deck = load(replaced(muelu, "    kspace: 25\n", "    muelu_xml_file_name: no_reductions\n"));
  EXPECT_EQ(deck.linearSolvers[0].preconditioner.parameters.get<int>("coarse: max size"), 50);
  const std::string missing = complaint(replaced(muelu, "    kspace: 25\n", "    muelu_xml_file_name: no_reduction\n"));
  expectStart(missing, "deck.yaml:8:26: linear_solvers[0].muelu_xml_file_name: found 'no_reduction'; allowed: ");
  EXPECT_NE(missing.find("did you mean \"no_reductions\"?"), std::string::npos) << missing;
}

TEST_F(DeckTest, FilesAreReadOnce) {
  const std::string matrix =
      folder_.file("once.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 3\n2 2 5\n");
  const std::string vector = folder_.file("once_b.mtx", "%%MatrixMarket matrix array real general\n2 1\n3\n5\n");
  const std::string system =
      "systems:\n  - {name: a, matrix: once.mtx, rhs: once_b.mtx, guess: once_b.mtx}\n"
      "  - {name: b, matrix: once.mtx}\n";
  const Deck deck = load(replaced(twoSolvers, "systems:\n  - generate: laplace2d\n", system));
  folder_.file("once.mtx", "read again");  // a second look would fail
  folder_.file("once_b.mtx", "read again");
  for (const auto& options : deck.systems) {
    const auto built = buildSystem(options, Tpetra::getDefaultComm());
    EXPECT_EQ(built.A->getGlobalNumEntries(), 2U);
    EXPECT_EQ(built.b->getGlobalLength(), 2U);
  }
  EXPECT_THROW(buildSystem(deck.systems[0], Tpetra::getDefaultComm()), InputError);
}

TEST_F(DeckTest, VectorsTooLargeForTheMachineAreRefused) {
  const SystemLimits limits{1e9, 1e6, 1};
  EXPECT_EQ(vectorSizeProblem(100, 10, limits), "");
  EXPECT_NE(vectorSizeProblem(1000, 1000, limits).find("found 1000 rows and 1000 columns, which take about"),
            std::string::npos);
  EXPECT_NE(vectorSizeProblem(1, 3000000000, limits).find("found 3000000000 columns; allowed: at most 2147483647"),
            std::string::npos);
}

TEST_F(DeckTest, NamesThatNoFileCanHaveAreRefusedWithMatrixFiles) {
  for (const char* name : {"../outside", "a/b", "/tmp/x", "\"a\\nb\""}) {
    const std::string named =
        replaced(twoSolvers, "  - generate: laplace2d", std::string("  - name: ") + name + "\n    generate: laplace2d");
    EXPECT_EQ(complaint(named), "") << "a label like any other";
    const std::string message =
        complaint(replaced(named, "    kspace: 25\n", "    kspace: 25\n    write_matrix_files: yes\n"));
    EXPECT_NE(message.find("systems[0].name: found '"), std::string::npos) << message;
    EXPECT_NE(message.find("allowed with write_matrix_files: a name that can be part of a file name"),
              std::string::npos)
        << message;
  }
  const std::string solver = replaced(replaced(twoSolvers, "name: solve_scalar", "name: solve/scalar"),
                                      "    kspace: 25\n", "    kspace: 25\n    write_matrix_files: yes\n");
  EXPECT_NE(complaint(solver).find("linear_solvers[0].name: found 'solve/scalar'"), std::string::npos);
}

}  // namespace
}  // namespace capstan::deck
