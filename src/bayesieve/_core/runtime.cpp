// Time limits of kernels, set from Python; see kernel.h.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <chrono>

#include "kernel.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using bayesieve::Clock;
using bayesieve::deadline;

// A limit for what one thread calls inside a `with` statement; of nested ones the first counts.
class TimeLimit {
public:
    explicit TimeLimit(double seconds) : seconds_(seconds) {}

    void enter() {
        before_ = deadline;
        // A limit beyond what the clock can hold is none; one that is no number has passed.
        if (seconds_ > kLongest) return;
        const double left = seconds_ > 0.0 ? seconds_ : 0.0;
        deadline = std::min(before_, Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                        std::chrono::duration<double>(left)));
    }
    void exit() { deadline = before_; }

private:
    static constexpr double kLongest = 1e9;  // 30 years
    double seconds_;
    Clock::time_point before_ = Clock::time_point::max();
};

}  // namespace

void register_runtime(nb::module_& m) {
    nb::exception<bayesieve::TimeLimitReached>(m, "TimeLimitReached", PyExc_TimeoutError);
    nb::class_<TimeLimit>(m, "TimeLimit",
                          "Ends kernels that this thread calls inside `with` after so many "
                          "seconds,\nby raising TimeLimitReached.")
        .def(nb::init<double>(), "seconds"_a)
        .def("__enter__", &TimeLimit::enter)
        .def(
            "__exit__", [](TimeLimit& self, nb::args) { self.exit(); }, "exception"_a);
}
