// Code length of the partition of V partiles into groups, in nats; the rows come on top.
//
// Both forms grow with the number of groups, and the form with a garbage group falls as that
// group takes in more values: each value outside it adds at least ln V - ln V' >= 0. So
// the group with most values is the best choice for the garbage of any partition, and a search
// that leaves the choice free ends with it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "code_lengths.h"

namespace bayesieve {

constexpr double kNever = std::numeric_limits<double>::infinity();

class GroupPrior {
  public:
    // head: what does not depend on the groups, ln 2 + c_attr + U(g; Gmax) of more than one
    // group; null_head: of a single group.
    static GroupPrior khiops(std::size_t partiles, double head, double null_head) {
        return {partiles, head + (partiles > 7 ? kLn2 : 0.0), null_head, partiles >= 7, true};
    }
    // ln V + ln B(V, I): no code for the number of groups, no garbage.
    static GroupPrior classical(std::size_t partiles) {
        const double log_values = std::log(static_cast<double>(partiles));
        return {partiles, log_values, log_values, false, false};
    }

    std::size_t partiles() const { return partiles_; }
    bool garbage_allowed() const { return garbage_allowed_; }
    double null() const { return null_head_; }

    double plain(std::size_t groups) const {
        if (groups <= 1) return null_head_;
        double& known = plain_[groups];
        if (std::isnan(known))
            known = head_ + (counted_ ? code(groups - 1, partiles_ - 1) : 0.0) +
                    log_partition_count(partiles_, groups);
        return known;
    }

    // groups in all, the garbage group with `held` values among them.
    double garbage(std::size_t groups, std::size_t held) const {
        if (!garbage_allowed_ || groups < 3 || held < 1 || held + groups > partiles_ + 1)
            return kNever;
        Known& known = garbage_[(groups * 64 + held) % kKnown];
        if (known.groups == groups && known.held == held) return known.value;
        const std::size_t outside = partiles_ - held, others = groups - 1;
        const double rest = static_cast<double>(outside);
        const double value = head_ + code(outside - 1, partiles_ - 2) +
                             rest * std::log(static_cast<double>(partiles_)) -
                             log_gamma(rest + 1.0) + code(others - 1, outside - 1) +
                             log_partition_count(outside, others);
        known = {groups, held, value};
        return value;
    }
    // The cheapest partition into at least so many groups, one of them garbage: every other
    // group is one value.
    double least_garbage(std::size_t groups) const {
        groups = std::max<std::size_t>(groups, 3);
        return groups > partiles_ ? kNever : garbage(groups, partiles_ - groups + 1);
    }

  private:
    GroupPrior(std::size_t partiles, double head, double null_head, bool garbage_allowed,
               bool counted)
        : partiles_(partiles), head_(head), null_head_(null_head),
          garbage_allowed_(garbage_allowed), counted_(counted),
          plain_(partiles + 2, std::nan("")) {
        if (garbage_allowed) garbage_.assign(kKnown, Known{0, 0, 0.0});
    }
    // A search asks for the same few pairs again and again: the last one met in each slot.
    struct Known {
        std::size_t groups, held;
        double value;
    };
    static constexpr std::size_t kKnown = 2048;
    static double code(std::size_t n, std::size_t largest) {
        return integer_code(static_cast<double>(n), static_cast<double>(largest));
    }

    std::size_t partiles_;
    double head_, null_head_;
    bool garbage_allowed_, counted_;
    mutable std::vector<double> plain_;
    mutable std::vector<Known> garbage_;
};

}  // namespace bayesieve
