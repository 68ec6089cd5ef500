#pragma once

#include <functional>
#include <string_view>

namespace lucid {

/// Receives what is logged: a topic of LUCID_LOG and text of one line or several.
using LogSink = std::function<void(std::string_view topic, std::string_view text)>;

/// Logs text to standard error, each line after "lucid[topic] ". Callers ask Options::logs(topic) first, so that what
/// nobody reads is not put together. Threads do not mix their lines.
void log(std::string_view topic, std::string_view text);

/// Sends what is logged elsewhere until the end of a scope; for tests.
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
