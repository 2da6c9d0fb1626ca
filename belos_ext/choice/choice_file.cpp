#include "belos_ext/choice/choice_file.hpp"

#include <fmt/format.h>

#include <Teuchos_Comm.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "belos_ext/support/output_file.hpp"
#include "belos_ext/support/said_once.hpp"
#include "belos_ext/support/shared_text.hpp"

namespace capstan {
namespace {

using nlohmann::json;

constexpr const char* format = "Capstan choice";
constexpr int version = 1;

json toJson(const ChoiceKnowledge& known) {
  json arms = json::array();
  for (const ChoiceKnowledge::Arm& arm : known.arms) {
    arms.push_back({{"name", arm.name},
                    {"solves", arm.solves},
                    {"correction", arm.correction},
                    {"ratio", arm.ratio},
                    {"ratio_variance", arm.ratioVariance},
                    {"modelled_seconds", arm.modelled},
                    {"unsolved", arm.unsolved},
                    {"failed", arm.failed},
                    {"failures", arm.failures}});
  }
  const MachineTimes& times = known.times;
  return {{"best", known.best},
          {"iterations_a_digit", known.pace},
          {"iterations", known.expected},
          {"seconds",
           {{"product", times.product},
            {"preconditioner", times.preconditioner},
            {"byte", times.byte},
            {"reduction", times.reduction}}},
          {"arms", std::move(arms)}};
}

/// Reads members of an object, and says where one is wrong.
class Members {
 public:
  Members(const json& object, std::string place) : object_(object), place_(std::move(place)) {
    if (!object.is_object()) wrong(place_, object, "an object");
  }

  [[noreturn]] static void wrong(const std::string& place, const json& found, const std::string& allowed) {
    std::string text = found.dump();
    if (text.size() > 40) text = text.substr(0, 40) + "...";
    throw std::invalid_argument(fmt::format("{}: found {}; allowed: {}", place, text, allowed));
  }

  std::string placeOf(const char* name) const { return place_ + (place_.empty() ? "" : ".") + name; }
  const json& at(const char* name) const {
    const auto found = object_.find(name);
    if (found == object_.end()) throw std::invalid_argument(placeOf(name) + ": it is missing");
    return *found;
  }
  std::string text(const char* name) const {
    const json& value = at(name);
    if (!value.is_string()) wrong(placeOf(name), value, "a string");
    return value.get<std::string>();
  }
  bool flag(const char* name) const {
    const json& value = at(name);
    if (!value.is_boolean()) wrong(placeOf(name), value, "true or false");
    return value.get<bool>();
  }
  /// A finite number, not below `least`.
  double number(const char* name, double least) const {
    const json& value = at(name);
    if (!value.is_number() || !(value.get<double>() >= least)) {
      wrong(placeOf(name), value, fmt::format("a number from {} on", least));
    }
    return value.get<double>();
  }
  long long whole(const char* name, long long least) const {
    const json& value = at(name);
    if (!value.is_number_integer() || value.get<long long>() < least) {
      wrong(placeOf(name), value, fmt::format("a whole number from {} on", least));
    }
    return value.get<long long>();
  }

 private:
  const json& object_;
  std::string place_;
};

constexpr double leastSeconds = 1e-12;  ///< and least ratio: estimates are divided by them

ChoiceFile::Entry entryOf(const json& object, const std::string& place) {
  const Members all(object, place);
  ChoiceFile::Entry entry;
  entry.key = {all.text("system"),
               all.text("mode"),
               all.text("preconditioner"),
               all.text("machine"),
               static_cast<int>(all.whole("ranks", 1)),
               all.whole("rows", 0)};
  ChoiceKnowledge& known = entry.known;
  known.best = all.text("best");
  known.pace = all.number("iterations_a_digit", leastSeconds);
  known.expected = all.number("iterations", leastSeconds);
  const Members seconds(all.at("seconds"), all.placeOf("seconds"));
  known.times = {seconds.number("product", 0), seconds.number("preconditioner", 0), seconds.number("byte", 0),
                 seconds.number("reduction", 0)};
  const json& arms = all.at("arms");
  if (!arms.is_array()) Members::wrong(all.placeOf("arms"), arms, "a list");
  for (std::size_t a = 0; a < arms.size(); ++a) {
    const Members arm(arms[a], fmt::format("{}[{}]", all.placeOf("arms"), a));
    ChoiceKnowledge::Arm& one = known.arms.emplace_back();
    one.name = arm.text("name");
    one.solves = static_cast<int>(std::min(arm.whole("solves", 0), 1'000'000LL));
    const double least = one.solves > 0 ? leastSeconds : 0.0;
    one.correction = arm.number("correction", least);
    one.ratio = arm.number("ratio", leastSeconds);
    one.ratioVariance = arm.number("ratio_variance", 0);
    one.modelled = arm.number("modelled_seconds", least);
    one.unsolved = arm.flag("unsolved");
    one.failed = arm.flag("failed");
    one.failures = static_cast<int>(std::min(arm.whole("failures", 0), 1'000'000LL));
  }
  return entry;
}

/// How much of two keys of one system is alike.
int likeness(const ChoiceKey& a, const ChoiceKey& b) {
  return 16 * static_cast<int>(a.preconditioner == b.preconditioner) + 8 * static_cast<int>(a.machine == b.machine) +
         4 * static_cast<int>(a.ranks == b.ranks) + 2 * static_cast<int>(a.rows == b.rows) +
         static_cast<int>(a.mode == b.mode);
}

/// Empty: it is not there. Throws std::runtime_error where it cannot be read.
std::string textOf(const std::string& path) {
  if (!std::filesystem::exists(path)) return "";
  std::ifstream in(path);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in || std::filesystem::is_directory(path)) {
    throw std::runtime_error(
        fmt::format("\"Choice File\" = \"{}\" cannot be read: {}", path,
                    std::filesystem::is_directory(path) ? "it is a folder" : std::strerror(errno)));
  }
  return text.str();
}

}  // namespace

ChoiceFile::ChoiceFile(const std::string& path, const std::string& text) {
  if (text.empty()) return;
  try {
    const json whole = json::parse(text);
    const Members all(whole, "");
    if (all.text("format") != format) Members::wrong("format", all.at("format"), fmt::format("\"{}\"", format));
    if (all.whole("version", 0) != version) Members::wrong("version", all.at("version"), std::to_string(version));
    const json& systems = all.at("systems");
    if (!systems.is_array()) Members::wrong("systems", systems, "a list");
    for (std::size_t s = 0; s < systems.size(); ++s)
      entries_.push_back(entryOf(systems[s], fmt::format("systems[{}]", s)));
  } catch (const json::exception& error) {
    throw std::invalid_argument(fmt::format("\"Choice File\" = \"{}\": this is no JSON: {}", path, error.what()));
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(fmt::format("\"Choice File\" = \"{}\", {}", path, error.what()));
  }
}

const ChoiceFile::Entry* ChoiceFile::find(const ChoiceKey& key) const {
  const Entry* best = nullptr;
  for (const Entry& entry : entries_) {
    if (entry.key.system != key.system) continue;
    if (best == nullptr || likeness(entry.key, key) > likeness(best->key, key)) best = &entry;
  }
  return best;
}

void ChoiceFile::put(Entry entry) {
  const auto same = [&entry](const Entry& other) { return other.key == entry.key; };
  entries_.erase(std::remove_if(entries_.begin(), entries_.end(), same), entries_.end());
  entries_.insert(entries_.begin(), std::move(entry));
  if (entries_.size() > mostEntries) entries_.resize(mostEntries);
}

std::string ChoiceFile::text() const {
  json systems = json::array();
  for (const auto& [key, known] : entries_) {
    json one = {{"system", key.system},   {"mode", key.mode},   {"preconditioner", key.preconditioner},
                {"machine", key.machine}, {"ranks", key.ranks}, {"rows", key.rows}};
    one.update(toJson(known));
    systems.push_back(std::move(one));
  }
  return json({{"format", format}, {"version", version}, {"systems", std::move(systems)}})
             .dump(1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

std::vector<std::string> ChoiceFile::systems() const {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (std::find(names.begin(), names.end(), entry.key.system) == names.end()) names.push_back(entry.key.system);
  }
  return names;
}

std::string machineName(const std::string& space) {
  static const std::string processor = [] {
    std::ifstream in("/proc/cpuinfo");
    for (std::string line; std::getline(in, line);) {
      const std::size_t colon = line.find(": ");
      if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
    }
    return std::string("unknown processor");
  }();
  return processor + ", " + space;
}

std::string machineName(const std::string& space, const Teuchos::Comm<int>& comm) {
  return sharedText(machineName(space), 0, comm);
}

ChoiceFile readChoiceFile(const std::string& path, const Teuchos::Comm<int>& comm) {
  std::string text;
  if (comm.getRank() == 0) {
    try {
      text = 'T' + textOf(path);
    } catch (const std::exception& error) {
      text = std::string("E") + error.what();
    }
  }
  text = sharedText(text, 0, comm);
  if (text[0] == 'E') throw std::invalid_argument(text.substr(1));
  return {path, text.substr(1)};
}

void keepInChoiceFile(const std::string& path, ChoiceFile::Entry entry, std::ostream& out) {
  try {
    // Other systems, and other runs, have entries of their own.
    ChoiceFile file(path, textOf(path));
    file.put(std::move(entry));
    writeOutput(path, file.text());
  } catch (const std::exception& error) {
    if (firstTime(error.what())) out << "Capstan warning: " << error.what() << std::endl;
  }
}

}  // namespace capstan
