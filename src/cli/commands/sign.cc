#include <nlohmann/json.hpp>

#include "baton/signing.h"
#include "cli/commands/commands.h"

namespace baton::cli {

void sign(const SignCommand& command, Output& output) {
  nlohmann::ordered_json& json = output.result();
  json["bundle"] = command.bundle.string();
  json["output"] = command.output.string();
  const SigningKey key = SigningKey::from_file(command.key);
  sign_bundle(command.bundle, key, command.output);
  const std::string id = key.public_key().id();
  json["signed_by"] = id;
  output.line("wrote {}, signed with the key {}", command.output.string(), id);
}

}  // namespace baton::cli
