#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "adapters/plugin/belos_names.hpp"
#include "adapters/plugin/option_use.hpp"
#include "adapters/plugin/options_file.hpp"
#include "adapters/values/typed_values.hpp"
#include "adapters/values/yaml_document.hpp"
#include "belos_ext/parameters/parameter_table.hpp"
#include "belos_ext/parameters/user_options_error.hpp"
#include "belos_ext/support/nearest_match.hpp"

namespace capstan {

namespace {

/// "yes" and "no" stay words here; parameters that are truth values read them (parameter_value.hpp).
const TruthWords truthWords{{"true", "True", "TRUE"}, {"false", "False", "FALSE"}};

/// The value of a parameter as it would stand in a list the application made.
Teuchos::ParameterEntry entryOf(const YAML::Node& node, const ParameterRow& row) {
  if (node.IsSequence()) return typedSequence(node);
  return row.type == "string" ? Teuchos::ParameterEntry(node.Scalar()) : typedScalar(node, truthWords);
}

}  // namespace

/// Turns one YAML document into options.
class OptionsReader {
 public:
  explicit OptionsReader(std::string source) : source_(std::move(source)) {}

  UserOptions read(const std::string& text) {
    YAML::Node document;
    try {
      document = yamlDocument(text);
    } catch (const YAML::Exception& error) {
      throw UserOptionsError(
          fmt::format("{}{}{} is not valid YAML: {}", userOptionsPrefix, source_, line(error.mark), error.msg));
    }
    if (document.IsNull()) return options_;
    requireMap(document, "");
    readParameters(document, "", newLayer());
    if (const YAML::Node labels = document["labels"]) readLabels(labels);
    if (const YAML::Node redirect = document["redirect"]) readRedirects(redirect);
    return options_;
  }

 private:
  static std::string line(const YAML::Mark& mark) {
    return mark.is_null() ? std::string() : fmt::format(", line {}", mark.line + 1);
  }

  /// Where something stands, for people: "o.yaml, line 3: labels.p".
  std::string where(const YAML::Node& node, const std::string& path) const {
    return source_ + line(node.Mark()) + (path.empty() ? "" : ": ") + path;
  }

  [[noreturn]] void fail(const YAML::Node& node, const std::string& path, const std::string& what) const {
    throw UserOptionsError(userOptionsPrefix + where(node, path) + ": " + what);
  }

  UserOptions::Layer newLayer() const {
    UserOptions::Layer layer;
    layer.list.setName(source_);
    layer.use = std::make_shared<OptionUse>();
    return layer;
  }

  void requireMap(const YAML::Node& node, const std::string& path) const {
    if (!node.IsMap()) fail(node, path, "is not a map; allowed: keys with values, such as step_size: 5");
  }

  std::string keyOf(const YAML::Node& node, const std::string& path) const {
    if (!node.IsScalar()) fail(node, path, "has a key that is not a word");
    return node.Scalar();
  }

  void readParameters(const YAML::Node& map, const std::string& path, UserOptions::Layer layer) {
    const bool top = !layer.label;
    std::set<const ParameterRow*> seen;
    std::set<std::string> sections;
    for (const auto& item : map) {
      const std::string key = keyOf(item.first, path);
      if (top && (key == "labels" || key == "redirect")) {
        if (!sections.insert(key).second) fail(item.first, key, "is given twice");
        continue;
      }
      const ParameterRow* row = findParameter(key);
      if (row == nullptr) fail(item.first, path + key, "unknown key" + suggestion(key, top));
      if (!seen.insert(row).second) fail(item.first, path + key, "parameter \"" + row->name + "\" is given twice");
      if (item.second.IsNull())
        fail(item.first, path + key, "has no value; allowed: " + row->type + ", " + row->allowed);
      if (item.second.IsMap()) fail(item.second, path + key, "is a map; allowed: " + row->type + ", " + row->allowed);
      const Teuchos::ParameterEntry entry = entryOf(item.second, *row);
      try {
        checkParameter(*row, entry);
      } catch (const std::invalid_argument& error) {
        fail(item.second, path + key, error.what());
      }
      layer.list.setEntry(row->name, entry);
      layer.keys[row->name] = where(item.first, path + key);
    }
    if (!top || layer.list.numParams() > 0) options_.parameters_.push_back(std::move(layer));
  }

  std::string suggestion(const std::string& key, bool top) const {
    std::vector<std::string> names;
    for (const ParameterRow& row : parameterRows()) names.push_back(row.name);
    if (top) names.insert(names.end(), {"labels", "redirect"});
    const std::string nearest = didYouMean(key, names);
    return nearest + (top ? "; allowed: a parameter's name, labels, redirect" : "; allowed: a parameter's name");
  }

  void readLabels(const YAML::Node& labels) {
    requireMap(labels, "labels");
    std::map<std::string, std::string> seen;  // keys by their meaning
    for (const auto& item : labels) {
      const std::string key = keyOf(item.first, "labels");
      const std::string path = "labels." + key;
      UserOptions::Layer layer = newLayer();
      layer.label = patternOf(item.first, key, path);
      layer.where = where(item.first, path);
      const auto [earlier, isNew] = seen.emplace(layer.label->normalized(), key);
      if (!isNew) {
        fail(item.first, path,
             std::string("is given twice") + (earlier->second == key ? "" : ", before as \"" + earlier->second + '"'));
      }
      requireMap(item.second, path);
      readParameters(item.second, path + ".", std::move(layer));
    }
  }

  LabelPattern patternOf(const YAML::Node& node, const std::string& key, const std::string& path) const {
    try {
      return LabelPattern::parse(key);
    } catch (const std::invalid_argument& error) {
      fail(node, path, error.what());
    }
  }

  void readRedirects(const YAML::Node& redirect) {
    requireMap(redirect, "redirect");
    for (const auto& item : redirect) {
      const std::string from = keyOf(item.first, "redirect");
      const std::string path = "redirect." + from;
      if (!item.second.IsScalar()) fail(item.second, path, "is not a solver's name");
      const MethodTraits* to = findMethod(item.second.Scalar());
      if (to == nullptr) fail(item.second, path, unknownSolverMessage(item.second.Scalar()));
      checkRedirected(item.first, from, path);
      const std::string canonical = canonicalSolverName(from);
      const UserOptions::Redirect one{to, where(item.first, path), std::make_shared<OptionUse>()};
      if (!options_.redirects_.emplace(canonical, one).second) {
        fail(item.first, path, "solver \"" + canonical + "\" is redirected twice");
      }
    }
  }

  /// A name nobody knows may belong to an application's own factory, unless it looks like a slip.
  void checkRedirected(const YAML::Node& node, const std::string& from, const std::string& path) const {
    if (findMethod(from) != nullptr) return;
    if (looksLikeOurs(from)) fail(node, path, unknownSolverMessage(from));
    const std::vector<std::string> known = belosNames();
    for (const std::string& name : known) {
      if (normalizedName(name) == normalizedName(from)) return;
    }
    const std::string nearest = didYouMean(from, known);
    if (!nearest.empty()) fail(node, path, "Belos has no solver \"" + from + "\"" + nearest);
  }

  std::string source_;
  UserOptions options_;
};

UserOptions UserOptions::parse(const std::string& text, const std::string& source) {
  return OptionsReader(source).read(text);
}

}  // namespace capstan
