#include "adapters/values/yaml_document.hpp"

#include <yaml-cpp/eventhandler.h>

#include <map>
#include <sstream>
#include <vector>

namespace capstan {
namespace {

/// Looks at a text without building nodes: at the documents, and at what the aliases stand for.
class Inspector : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw YAML::ParserException(mark, "a second YAML document; only one is allowed");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { value(mark, anchor); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string&) override {
    value(mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto named = sizes_.find(anchor);
    if (named == sizes_.end()) throw YAML::ParserException(mark, "an alias inside what it names; it would never end");
    count(mark, named->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor);
  }
  void OnMapEnd() override { end(); }

 private:
  struct Open {
    YAML::anchor_t anchor;
    long long before;  ///< values counted when it began
  };

  void count(const YAML::Mark& mark, long long values) {
    constexpr long long most = 1000000;
    values_ += values;
    if (values_ > most) throw YAML::ParserException(mark, "aliases that unfold into more than a million values");
  }

  void value(const YAML::Mark& mark, YAML::anchor_t anchor) {
    count(mark, 1);
    if (anchor != YAML::NullAnchor) sizes_[anchor] = 1;
  }

  void begin(const YAML::Mark& mark, YAML::anchor_t anchor) {
    open_.push_back({anchor, values_});
    count(mark, 1);
  }

  void end() {
    const Open closed = open_.back();
    open_.pop_back();
    if (closed.anchor != YAML::NullAnchor) sizes_[closed.anchor] = values_ - closed.before;
  }

  int documents_ = 0;
  long long values_ = 0;
  std::vector<Open> open_;                     ///< the lists and maps around the place that is read
  std::map<YAML::anchor_t, long long> sizes_;  ///< values that a complete anchored node stands for
};

}  // namespace

YAML::Node yamlDocument(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Inspector inspector;
  while (parser.HandleNextDocument(inspector)) {
  }
  return YAML::Load(text);
}

}  // namespace capstan
