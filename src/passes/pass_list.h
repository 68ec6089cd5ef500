#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/names.h"

/// The infrastructure that graph passes and plan passes share: disabling, timing, logging and verification.
namespace lucid {

/// Statistics of one run of a pass.
struct PassRun {
  std::string name;
  double microseconds = 0;
  size_t nodes_before = 0;
  size_t nodes_after = 0;
  bool changed = false;
  std::string_view counted = "nodes";  // or "steps"
};

/// Statistics of all passes that ran, in order.
struct PassReport {
  std::vector<PassRun> runs;
  double microseconds() const;
};

/// A table of the runs, one per line.
std::string to_text(const PassReport& report);

/// The object that a list of passes transforms.
class PassSubject {
 public:
  virtual ~PassSubject() = default;
  virtual std::string_view name() const = 0;
  virtual size_t size() const = 0;
  /// The unit of size().
  virtual std::string_view counted() const { return "nodes"; }
  virtual std::string text() const = 0;
  /// Throws InternalError naming the rule that is broken.
  virtual void verify() const = 0;
};

/// Runs the passes of a list in order.
class PassRunner {
 public:
  /// Passes in `disabled` are skipped. With `verify`, the subject is verified after each pass that changes it.
  PassRunner(const PassSubject& subject, PassNames disabled, bool verify);

  /// Runs a pass, which returns whether it changed the subject. With LUCID_LOG=passes, logs the lines that changed.
  /// Throws InternalError naming the pass if the subject does not verify afterwards.
  void run(std::string_view name, const std::function<bool()>& pass);
  /// The same for a mandatory transformation, which cannot be disabled and is not logged.
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

/// The difference between two texts, as the log shows it: removed lines after "- ", added lines after "+ ". The lines
/// of each text must be distinct, and common lines must be in the same order in both, which holds for nodes.
std::string changed_lines(const std::string& before, const std::string& after);

}  // namespace lucid
