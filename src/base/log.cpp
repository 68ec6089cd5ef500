#include "base/log.h"

#include <cstdio>
#include <mutex>
#include <string>
#include <utility>

#include "base/lock.h"
#include "base/split.h"

namespace lucid {
namespace {

void write_to_stderr(std::string_view topic, std::string_view text) {
  std::string lines;
  for (const std::string_view line : split(text, '\n'))
    lines.append("lucid[").append(topic).append("] ").append(line).push_back('\n');
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

/// Never destroyed: worker threads and destructors of static objects may still log.
LogSink& current_sink() {
  static LogSink* const instance = new LogSink(write_to_stderr);
  return *instance;
}

LogSink exchange_sink(LogSink sink) {
  const std::lock_guard lock(mutex_of(LockRank::kLog));
  return std::exchange(current_sink(), std::move(sink));
}

}  // namespace

void log(std::string_view topic, std::string_view text) {
  LogSink sink;
  {
    const std::lock_guard lock(mutex_of(LockRank::kLog));
    sink = current_sink();
  }
  // Without the lock, because the sink may be user code.
  sink(topic, text);
}

LogScope::LogScope(LogSink sink) : saved_(exchange_sink(std::move(sink))) {}

LogScope::~LogScope() { exchange_sink(std::move(saved_)); }

}  // namespace lucid
