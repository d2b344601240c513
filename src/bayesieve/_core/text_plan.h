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

}  // namespace bayesieve::text
