// A kernel as Python calls it: without the interpreter's lock, but within its hearing.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>
#include <exception>

#include "runtime.h"

namespace bayesieve {

using Clock = std::chrono::steady_clock;

// Python: bayesieve._core.TimeLimitReached, a TimeoutError.
class TimeLimitReached : public std::exception {
public:
    const char* what() const noexcept override { return "the time limit is reached"; }
};

// When the kernels that this thread calls have to end; set from Python by _core.TimeLimit.
inline thread_local Clock::time_point deadline = Clock::time_point::max();

// While it lives the interpreter's lock is released, and poll() listens for signals and for the
// deadline. Make one for each call, in the place of nanobind's gil_scoped_release.
class Kernel final : public Watch {
public:
    Kernel() : deadline_(deadline), before_(listening), state_(PyEval_SaveThread()) {
        listening = {this, true};
    }
    ~Kernel() override {
        listening = before_;
        PyEval_RestoreThread(state_);
    }

    void look() override {
        const Clock::time_point now = Clock::now();
        if (now >= deadline_) {
            stop();
            throw TimeLimitReached();
        }
        // Asking Python takes its lock, which others may hold: not more often than needed, and
        // not at all in a short call.
        if (next_ == Clock::time_point::min()) next_ = now + kBetween;
        if (now < next_) return;
        PyEval_RestoreThread(state_);
        const bool raised = PyErr_CheckSignals() != 0;  // runs the handlers
        if (raised) {
            stop();
            std::exception_ptr error = std::make_exception_ptr(nanobind::python_error());
            state_ = PyEval_SaveThread();
            std::rethrow_exception(error);
        }
        state_ = PyEval_SaveThread();
        next_ = Clock::now() + kBetween;
    }

private:
    static constexpr std::chrono::milliseconds kBetween{25};

    const Clock::time_point deadline_;
    const Listening before_;
    PyThreadState* state_;
    Clock::time_point next_ = Clock::time_point::min();
};

// For loops that need the lock all the time, as those over Python's own objects do.
inline void listen_with_lock() {
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
    if (deadline != Clock::time_point::max() && Clock::now() >= deadline)
        throw TimeLimitReached();
}

}  // namespace bayesieve
