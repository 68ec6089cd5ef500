#pragma once

#include <functional>
#include <string_view>

namespace lucid {

/// Receives log messages: a topic of LUCID_LOG, and text of one or more lines.
using LogSink = std::function<void(std::string_view topic, std::string_view text)>;

/// Logs text to standard error, with each line prefixed by "lucid[topic] ". Callers check Options::logs(topic) first,
/// so that no unused text is formatted. Lines of different threads do not mix.
void log(std::string_view topic, std::string_view text);

/// Redirects the log until the end of a scope; for tests.
class LogScope {
 public:
  explicit LogScope(LogSink sink);
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;
  ~LogScope();

 private:
  LogSink saved_;
};

}  // namespace lucid
