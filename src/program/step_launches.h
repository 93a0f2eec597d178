#pragma once

#include <type_traits>
#include <variant>

#include "baton/program.h"

namespace baton {

// Calls `visit` with each launch among the steps and the groups in them, in the program's order:
// that of the launches' numbers. It may take the step around the launch, too. `steps` is a vector
// of ProgramStep, const or not.
template <typename Steps, typename Visit>
void for_each_launch(Steps& steps, Visit&& visit) {
  for (auto& step : steps) {
    std::visit(
        [&](auto& action) {
          using Action = std::remove_const_t<std::remove_reference_t<decltype(action)>>;
          if constexpr (std::is_same_v<Action, LaunchStep>) {
            if constexpr (std::is_invocable_v<Visit, decltype(action), decltype(step)>) {
              visit(action, step);
            } else {
              visit(action);
            }
          } else if constexpr (std::is_same_v<Action, ParallelStep>) {
            for (auto& branch : action.branches) for_each_launch(branch, visit);
          } else if constexpr (!std::is_same_v<Action, CopyStep> &&
                               !std::is_same_v<Action, FillStep> &&
                               !std::is_same_v<Action, CollectiveStep>) {
            for_each_launch(action.steps, visit);
          }
        },
        step.action);
  }
}

// The same for each collective, in the order of their numbers. `visit` is told whether an if or a
// while executes it.
template <typename Steps, typename Visit>
void for_each_collective(Steps& steps, Visit&& visit, bool in_condition = false) {
  for (auto& step : steps) {
    std::visit(
        [&](auto& action) {
          using Action = std::remove_const_t<std::remove_reference_t<decltype(action)>>;
          if constexpr (std::is_same_v<Action, CollectiveStep>) {
            visit(action, in_condition);
          } else if constexpr (std::is_same_v<Action, ParallelStep>) {
            for (auto& branch : action.branches) for_each_collective(branch, visit, in_condition);
          } else if constexpr (!std::is_same_v<Action, CopyStep> &&
                               !std::is_same_v<Action, FillStep> &&
                               !std::is_same_v<Action, LaunchStep>) {
            const bool is_condition =
                std::is_same_v<Action, IfStep> || std::is_same_v<Action, WhileStep>;
            for_each_collective(action.steps, visit, in_condition || is_condition);
          }
        },
        step.action);
  }
}

}  // namespace baton
