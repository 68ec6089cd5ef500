#include "base/log.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

namespace lucid {
namespace {

void write_to_stderr(std::string_view topic, std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.append("lucid[").append(topic).append("] ").append(text.substr(0, end)).push_back('\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

struct State {
  std::mutex mutex;
  LogSink sink = write_to_stderr;
};

/// Never destroyed: worker threads and destructors of static objects may still log.
State& state() {
  static State* const instance = new State;
  return *instance;
}

LogSink exchange_sink(LogSink sink) {
  const std::lock_guard lock(state().mutex);
  return std::exchange(state().sink, std::move(sink));
}

}  // namespace

void log(std::string_view topic, std::string_view text) {
  const std::lock_guard lock(state().mutex);
  state().sink(topic, text);
}

LogScope::LogScope(LogSink sink) : saved_(exchange_sink(std::move(sink))) {}

LogScope::~LogScope() { exchange_sink(std::move(saved_)); }

}  // namespace lucid
