/// \file
/// "Choice File": what is written is read again, and what is wrong is said.

#include <gtest/gtest.h>
#include <unistd.h>

#include <Teuchos_DefaultComm.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

#include "belos_ext/choice/choice_file.hpp"
#include "belos_ext/support/said_once.hpp"

namespace capstan::testing {
namespace {

ChoiceKey keyOf(const std::string& system, int ranks = 2) {
  return {system, "measured", "M|", "a machine", ranks, 1000};
}

ChoiceFile::Entry entryOf(const ChoiceKey& key, const std::string& best = "CAPSTAN CG") {
  ChoiceKnowledge known{{1e-5, 2e-5, 3e-10, 4e-6}, 7.5, 60.0, best, {}};
  known.arms.push_back({best, 9, 1.1, 1.0, 0.0004, 5e-5, false, false, 0});
  known.arms.push_back({"CAPSTAN IDR", 0, 1.0, 1.15, 0.09, 0.0, false, true, 2});
  return {key, known};
}

std::string errorOf(const std::string& text) {
  try {
    ChoiceFile("f.json", text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at == std::string::npos) throw std::logic_error(what + " is not there");
  return text.replace(at, what.size(), by);
}

TEST(ChoiceFile, IsReadAsItWasWritten) {
  ChoiceFile file("f.json", "");
  EXPECT_EQ(file.find(keyOf("p")), nullptr);
  file.put(entryOf(keyOf("p")));
  file.put(entryOf(keyOf("\"T\"\n"), "CAPSTAN GMRES"));
  const ChoiceFile again("f.json", file.text());
  EXPECT_EQ(again.systems(), (std::vector<std::string>{"\"T\"\n", "p"}));
  const ChoiceFile::Entry* const found = again.find(keyOf("p"));
  ASSERT_NE(found, nullptr);
  EXPECT_TRUE(found->key == keyOf("p"));
  EXPECT_EQ(found->known.best, "CAPSTAN CG");
  EXPECT_EQ(found->known.times.byte, 3e-10);
  EXPECT_EQ(found->known.pace, 7.5);
  ASSERT_EQ(found->known.arms.size(), 2U);
  EXPECT_EQ(found->known.arms[0].solves, 9);
  EXPECT_EQ(found->known.arms[0].modelled, 5e-5);
  EXPECT_TRUE(found->known.arms[1].failed);
  EXPECT_EQ(found->known.arms[1].failures, 2);
  EXPECT_EQ(again.text(), file.text());
}

TEST(ChoiceFile, KeepsTheNewestOfEachSystemOnEachMachine) {
  ChoiceFile file("f.json", "");
  file.put(entryOf(keyOf("p", 2), "CAPSTAN CG"));
  file.put(entryOf(keyOf("p", 4), "CAPSTAN CG PIPELINE"));
  file.put(entryOf(keyOf("p", 2), "CAPSTAN CR"));
  EXPECT_EQ(file.find(keyOf("p", 2))->known.best, "CAPSTAN CR");
  EXPECT_EQ(file.find(keyOf("p", 4))->known.best, "CAPSTAN CG PIPELINE");
  EXPECT_EQ(file.find(keyOf("p", 8))->known.best, "CAPSTAN CR") << "the newest of those that are as near";
  EXPECT_EQ(file.find(keyOf("q")), nullptr);
  ChoiceKey elsewhere = keyOf("p", 4);
  elsewhere.machine = "another";
  EXPECT_EQ(file.find(elsewhere)->known.best, "CAPSTAN CG PIPELINE") << "the ranks are alike";
  for (int k = 0; k < 300; ++k) file.put(entryOf(keyOf("s" + std::to_string(k))));
  EXPECT_EQ(file.systems().size(), ChoiceFile::mostEntries);
  EXPECT_EQ(file.find(keyOf("p")), nullptr);
}

TEST(ChoiceFile, SaysWhatIsWrong) {
  ChoiceFile file("f.json", "");
  file.put(entryOf(keyOf("p")));
  const std::string good = file.text();
  EXPECT_EQ(errorOf(good), "no error");
  EXPECT_NE(errorOf("{").find("\"Choice File\" = \"f.json\": this is no JSON"), std::string::npos);
  EXPECT_NE(errorOf("[1]").find("found [1]; allowed: an object"), std::string::npos);
  EXPECT_NE(errorOf("{}").find("\"f.json\", format: it is missing"), std::string::npos);
  const struct {
    const char *what, *by, *said;
  } wrong[] = {
      {"Capstan choice", "a report", "format: found \"a report\"; allowed: \"Capstan choice\""},
      {"\"version\": 1", "\"version\": 2", "version: found 2; allowed: 1"},
      {"\"ranks\": 2", "\"ranks\": 0", "systems[0].ranks: found 0; allowed: a whole number from 1 on"},
      {"\"solves\": 9", "\"solves\": \"x\"", "systems[0].arms[0].solves: found \"x\"; allowed: a whole number"},
      {"\"correction\": 1.1", "\"correction\": 0", "systems[0].arms[0].correction: found 0; allowed: a number from"},
      {"\"ratio\": 1.15", "\"ratio\": null", "systems[0].arms[1].ratio: found null; allowed: a number"},
      {"\"failed\": true", "\"failed\": 1", "systems[0].arms[1].failed: found 1; allowed: true or false"},
      {"\"product\": 1e-05", "\"product\": -1", "systems[0].seconds.product: found -1; allowed: a number from 0"},
      {"\"best\"", "\"beste\"", "systems[0].best: it is missing"},
  };
  for (const auto& [what, by, said] : wrong) {
    const std::string error = errorOf(replaced(good, what, by));
    EXPECT_NE(error.find(said), std::string::npos) << error;
  }
}

TEST(ChoiceFile, IsReplacedAsAWholeAndNeverLost) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("choice-" + std::to_string(::getpid()) + ".json")).string();
  const auto textOf = [&path] {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  std::ostringstream out;
  keepInChoiceFile(path, entryOf(keyOf("p")), out);
  keepInChoiceFile(path, entryOf(keyOf("T")), out);
  EXPECT_EQ(ChoiceFile(path, textOf()).systems(), (std::vector<std::string>{"T", "p"}));
  EXPECT_EQ(out.str(), "");
  std::ofstream(path) << "a text of the user's";
  for (int k = 0; k < 2; ++k) keepInChoiceFile(path, entryOf(keyOf("p")), out);
  EXPECT_EQ(textOf(), "a text of the user's");
  EXPECT_NE(out.str().find("Capstan warning: \"Choice File\" = \"" + path + "\": this is no JSON"), std::string::npos);
  EXPECT_EQ(out.str().find("warning"), out.str().rfind("warning")) << "told once";
  std::filesystem::remove(path);
  forgetWhatWasSaid();
}

TEST(ChoiceFile, NamesTheMachine) {
  EXPECT_EQ(machineName("Serial"), machineName("Serial"));
  EXPECT_NE(machineName("Serial").find(", Serial"), std::string::npos);
  // Nodes may differ; the key is one.
  const auto comm = Teuchos::DefaultComm<int>::getComm();
  EXPECT_EQ(machineName("space " + std::to_string(comm->getRank()), *comm), machineName("space 0"));
}

}  // namespace
}  // namespace capstan::testing
