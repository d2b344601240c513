// What the texts are analysed by; shared by counters and matchers.
#pragma once

#include <memory>

#include "text_analysis.h"
#include "text_dictionary.h"
#include "text_unicode.h"

namespace bayesieve::text {

struct Plan {
    std::shared_ptr<Tables> tables;
    Dictionary stop;
    bool stops = false;
    Analysis analysis;
};

// What Python holds of a plan and its tables. nanobind's own shared pointers would allocate in
// functions that must not throw, and so end the process where memory ends.
struct SharedTables {
    std::shared_ptr<Tables> held;
};
struct SharedPlan {
    std::shared_ptr<Plan> held;
};

}  // namespace bayesieve::text
