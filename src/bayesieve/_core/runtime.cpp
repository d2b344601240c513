// Limits of kernels in time and threads, set from Python; see kernel.h and runtime.h.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>
#include <vector>

#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::Clock;
using bayesieve::deadline;

class TimeLimit;

// The limits in force on this thread; the earliest counts. They may end in any order.
thread_local std::vector<std::pair<const TimeLimit*, Clock::time_point>> in_force;

class TimeLimit {
public:
    explicit TimeLimit(double seconds) : seconds_(seconds) {}

    void enter() {
        // A limit beyond what the clock can hold is none; one that is no number has passed.
        if (seconds_ > kLongest) return;
        const std::chrono::duration<double> left(seconds_ > 0.0 ? seconds_ : 0.0);
        const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(left);
        end_ = end;
        in_force.emplace_back(this, end);
        choose();
    }
    void exit() {
        const auto mine = [this](const auto& limit) { return limit.first == this; };
        in_force.erase(std::remove_if(in_force.begin(), in_force.end(), mine), in_force.end());
        choose();
    }

    bool reached() const { return Clock::now() >= end_.load(); }

private:
    static constexpr double kLongest = 1e9;  // 30 years

    static void choose() {
        deadline = Clock::time_point::max();
        for (const auto& limit : in_force) deadline = std::min(deadline, limit.second);
    }

    double seconds_;
    std::atomic<Clock::time_point> end_{Clock::time_point::max()};  // other threads may ask
};

class ThreadLimit;

// Likewise, and the least number counts.
thread_local std::vector<std::pair<const ThreadLimit*, std::size_t>> limited_to;

class ThreadLimit {
public:
    explicit ThreadLimit(std::size_t threads) : threads_(std::max<std::size_t>(1, threads)) {}

    void enter() {
        limited_to.emplace_back(this, threads_);
        choose();
    }
    void exit() {
        const auto mine = [this](const auto& limit) { return limit.first == this; };
        limited_to.erase(std::remove_if(limited_to.begin(), limited_to.end(), mine),
                         limited_to.end());
        choose();
    }

private:
    static void choose() {
        std::size_t least = 0;
        for (const auto& limit : limited_to)
            least = least == 0 ? limit.second : std::min(least, limit.second);
        bayesieve::thread_limit = least;
    }

    std::size_t threads_;
};

}  // namespace

void register_runtime(nb::module_& m) {
    nb::exception<bayesieve::TimeLimitReached>(m, "TimeLimitReached", PyExc_TimeoutError);
    nb::class_<TimeLimit>(m, "TimeLimit",
                          "Ends kernels that this thread calls inside `with` after so many "
                          "seconds,\nby raising TimeLimitReached.")
        .def(nb::init<double>(), "seconds"_a)
        .def_prop_ro("reached", &TimeLimit::reached, "Whether its time is up.")
        .def("__enter__", &TimeLimit::enter)
        .def(
            "__exit__", [](TimeLimit& self, nb::args) { self.exit(); }, "exception"_a,
            nb::sig("def __exit__(self, *exception: object) -> None"));
    m.def("available_threads", &bayesieve::available_threads,
          "Threads that kernels called by this thread may use.");
    nb::class_<ThreadLimit>(m, "ThreadLimit",
                            "Kernels that this thread calls inside `with` use at most so many "
                            "threads.")
        .def(nb::init<std::size_t>(), "threads"_a)
        .def("__enter__", &ThreadLimit::enter)
        .def(
            "__exit__", [](ThreadLimit& self, nb::args) { self.exit(); }, "exception"_a,
            nb::sig("def __exit__(self, *exception: object) -> None"));
}
