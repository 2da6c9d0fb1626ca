#pragma once

/// \file
/// Whether MPI is given addresses of a device's memory.

#include <stdexcept>
#include <string>

namespace capstan::topology {

/// As asked for. Without effect where host and device share their memory.
enum class DeviceAwareMpi {
  Auto,  ///< where MPI says of itself that it takes them
  On,
  Off
};

/// "auto", "on", "off".
inline std::string toString(DeviceAwareMpi value) {
  switch (value) {
    case DeviceAwareMpi::Auto:
      return "auto";
    case DeviceAwareMpi::On:
      return "on";
    case DeviceAwareMpi::Off:
      return "off";
  }
  throw std::logic_error("DeviceAwareMpi out of range");
}

}  // namespace capstan::topology
