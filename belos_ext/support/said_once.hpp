#pragma once

/// \file
/// What a user is told once a process, because applications make their solvers anew for every solve.

#include <string>

namespace capstan {

/// True the first time it is asked with this text. Local, thread-safe.
bool firstTime(const std::string& what);

/// Whether this process is the one that speaks where no communicator is at hand: rank 0 of all. Local.
bool speaksForAll();

/// Prints the message, with "Capstan: " before it unless it begins so, on the standard error stream, whatever
/// "Verbosity" and "Output Stream" say, unless it has been said. For what an application must not be able to hide from
/// its user. Local; call it on one rank.
void sayOnce(const std::string& message);

/// The same, but once for all messages of that topic.
void sayOnceFor(const std::string& topic, const std::string& message);

/// Forgets what has been said, so that it is said again.
void forgetWhatWasSaid();

}  // namespace capstan
