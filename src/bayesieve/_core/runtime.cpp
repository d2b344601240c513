// Time limits of kernels, set from Python; see kernel.h.
#include <nanobind/nanobind.h>

#include <algorithm>
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
        end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(left);
        in_force.emplace_back(this, end_);
        choose();
    }
    void exit() {
        const auto mine = [this](const auto& limit) { return limit.first == this; };
        in_force.erase(std::remove_if(in_force.begin(), in_force.end(), mine), in_force.end());
        choose();
    }

    bool reached() const { return Clock::now() >= end_; }

private:
    static constexpr double kLongest = 1e9;  // 30 years

    static void choose() {
        deadline = Clock::time_point::max();
        for (const auto& limit : in_force) deadline = std::min(deadline, limit.second);
    }

    double seconds_;
    Clock::time_point end_ = Clock::time_point::max();
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
}
