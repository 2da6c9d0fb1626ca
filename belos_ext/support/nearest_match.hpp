#pragma once

/// \file
/// The nearest known word to a misspelt one, for error messages.

#include <string>
#include <vector>

namespace capstan {

/// Lower case, with '_' and '-' read as blanks and runs of blanks as one: the spelling under which names are compared.
std::string normalizedName(const std::string& name);

/// The candidate nearest to `word`, or an empty string when none is near.
///
/// Nearness is the optimal string alignment distance (insert, delete, replace, swap neighbours) between normalised
/// names; a candidate is near when it takes at most a third of the longer word's letters, and at least one, to change.
/// A name that somebody did not write to its end is compared with as many words of the candidate, at one letter more:
/// "capstan_sstp" is near "capstan_sstep_gmres".
/// Local. Ties go to the earlier candidate.
std::string nearestMatch(const std::string& word, const std::vector<std::string>& candidates);

/// `; did you mean "x"?` for the nearest candidate, or an empty string when none is near.
std::string didYouMean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace capstan
