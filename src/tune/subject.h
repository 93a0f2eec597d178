#pragma once

#include <optional>
#include <string>

#include "baton/bundle.h"
#include "baton/loaded_program.h"
#include "baton/tune.h"

namespace baton::tuning {

// What is tuned: a program, alone or in a bundle, on a device. Refers to the device.
class Subject {
 public:
  Subject(Program program, std::optional<Bundle> bundle, const Device& device,
          const LoadOptions& options);

  const Program& program() const { return program_; }
  const Device& device() const { return device_; }
  const LoadOptions& options() const { return options_; }

  // Throws what LoadedProgram::load and `with_choices` throw.
  LoadedProgram load(const TuneChoices& choices) const;

  // Null for a program that is in no bundle.
  const Bundle* bundle() const { return bundle_ ? &*bundle_ : nullptr; }

  // SHA-256 in hexadecimal of the program but for the code of its kernels.
  std::string program_digest() const;
  // The same of its kernels' images: what the compiler makes of their sources.
  std::string images_digest() const;

 private:
  const Program program_;
  const std::optional<Bundle> bundle_;
  const Device& device_;
  const LoadOptions options_;
};

}  // namespace baton::tuning
