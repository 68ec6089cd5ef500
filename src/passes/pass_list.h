#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/names.h"

/// What graph passes and plan passes have in common: they are switched, timed, logged and verified in one way.
namespace lucid {

/// What one pass did.
struct PassRun {
  std::string name;
  double microseconds = 0;
  size_t nodes_before = 0;
  size_t nodes_after = 0;
  bool changed = false;
  std::string_view counted = "nodes";  // or "steps"
};

/// What each pass did that ran, in order.
struct PassReport {
  std::vector<PassRun> runs;
  double microseconds() const;
};

/// A table of the runs, a line each.
std::string to_text(const PassReport& report);

/// What a list of passes transforms.
class PassSubject {
 public:
  virtual ~PassSubject() = default;
  virtual std::string_view name() const = 0;
  virtual size_t size() const = 0;
  /// What size() counts.
  virtual std::string_view counted() const { return "nodes"; }
  virtual std::string text() const = 0;
  /// Throws InternalError naming the rule that is broken.
  virtual void verify() const = 0;
};

/// Runs the passes of a list one after another.
class PassRunner {
 public:
  /// `disabled` names passes that are left out. With `verify`, the subject is verified after each pass that changes it.
  PassRunner(const PassSubject& subject, PassNames disabled, bool verify);

  /// Runs a pass, which returns whether it changed the subject. With LUCID_LOG=passes, logs the lines that changed.
  /// Throws InternalError naming the pass that left a subject which does not verify.
  void run(std::string_view name, const std::function<bool()>& pass);
  /// The same for a transformation that every subject needs: it cannot be disabled, and is not logged.
  void run_required(std::string_view name, const std::function<bool()>& pass);

  PassReport& report() { return report_; }

 private:
  void run(std::string_view name, const std::function<bool()>& pass, bool logs);

  const PassSubject& subject_;
  PassNames disabled_;
  bool verifies_;
  bool logs_;
  PassReport report_;
};

/// How one text differs from another, as the log shows it: lines gone after "- ", lines come after "+ ". Lines in both
/// must stand in the same order, as nodes do, and be different from each other.
std::string changed_lines(const std::string& before, const std::string& after);

}  // namespace lucid
