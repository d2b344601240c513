// Local moves on a partition: merge two intervals, three into two, move a boundary, split one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <vector>

#include "interval_table.h"
#include "runtime.h"

namespace bayesieve {

// Differences of cost below this are ties.
constexpr double kCostTie = 1e-6;

template <class Count, class Prior>
class IntervalMoves {
  public:
    IntervalMoves(const OrderedTable<Count>& table, const Prior& prior,
                  const std::vector<std::uint32_t>& ends)
        : table_(table),
          prior_(prior),
          alive_(ends.size()),
          // Costs are differences of ln N!, so a large N rounds away more than small gains.
          rounding_(1e-14 * table.logs()(static_cast<double>(table.below(table.rows())))) {
        std::uint32_t begin = 0;
        for (std::size_t i = 0; i < ends.size(); ++i) {
            nodes_.push_back({begin, ends[i], static_cast<std::int32_t>(i) - 1,
                              i + 1 < ends.size() ? static_cast<std::int32_t>(i) + 1 : -1,
                              table.cost(begin, ends[i]), {}});
            begin = ends[i];
        }
        for (std::size_t i = 0; i < ends.size(); ++i)
            for (int kind = 0; kind < 4; ++kind) look(kind, static_cast<std::int32_t>(i));
    }

    // Best move first, until none helps; the ends of the intervals.
    std::vector<std::uint32_t> run() {
        while (step()) {
        }
        std::vector<std::uint32_t> ends;
        for (std::int32_t i = 0; i >= 0; i = nodes_[static_cast<std::size_t>(i)].next)
            ends.push_back(nodes_[static_cast<std::size_t>(i)].end);
        return ends;
    }

  private:
    enum Kind { kMerge, kTwoForThree, kShift, kSplit };
    struct Move {
        std::uint32_t cut = 0;
        std::uint32_t stamp = 0;
        double cost = 0.0;
    };
    struct Node {
        std::uint32_t begin, end;
        std::int32_t previous, next;
        double cost;
        std::array<Move, 4> moves;
    };
    struct Entry {
        double change;
        std::int32_t node;
        std::uint32_t stamp;
        bool operator<(const Entry& other) const {  // the queue shows its largest
            return change > other.change || (change == other.change && node > other.node);
        }
    };
    Node& at(std::int32_t i) { return nodes_[static_cast<std::size_t>(i)]; }

    // The move of one kind whose leftmost interval is i.
    void look(int kind, std::int32_t i) {
        if (i < 0) return;
        pace_.spend(1);
        Node& first = at(i);
        Move& move = first.moves[static_cast<std::size_t>(kind)];
        ++move.stamp;
        double old = first.cost;
        std::uint32_t end = first.end;
        const int further = kind == kSplit ? 0 : kind == kTwoForThree ? 2 : 1;
        std::int32_t last = i;
        for (int f = 0; f < further; ++f) {
            last = at(last).next;
            if (last < 0) return;
            old += at(last).cost;
            end = at(last).end;
        }
        if (kind == kMerge) {
            move.cost = table_.cost(first.begin, end);
        } else {
            const IntervalCut cut = table_.best_cut(first.begin, end);
            if (!(cut.cost < std::numeric_limits<double>::infinity())) return;
            move.cut = static_cast<std::uint32_t>(cut.row);
            move.cost = cut.cost;
        }
        queues_[static_cast<std::size_t>(kind)].push({move.cost - old, i, move.stamp});
    }

    bool step() {
        int chosen = -1;
        double least = std::numeric_limits<double>::infinity();
        // Kinds in order of the number of intervals they leave: ties go to fewer.
        for (int kind = 0; kind < 4; ++kind) {
            auto& queue = queues_[static_cast<std::size_t>(kind)];
            while (!queue.empty() &&
                   queue.top().stamp !=
                       at(queue.top().node).moves[static_cast<std::size_t>(kind)].stamp)
                queue.pop();
            if (queue.empty()) continue;
            const std::size_t now =
                kind == kSplit ? alive_ + 1 : kind == kShift ? alive_ : alive_ - 1;
            const double change = queue.top().change + prior_(now) - prior_(alive_);
            const double margin = kind < kShift ? 1e-9 : -std::max(1e-7, rounding_);
            if (change < margin && change < least - (chosen < 0 ? 0.0 : kCostTie)) {
                least = change;
                chosen = kind;
            }
        }
        if (chosen < 0) return false;
        apply(chosen, queues_[static_cast<std::size_t>(chosen)].top().node);
        return true;
    }

    void unlink(std::int32_t i) {
        Node& node = at(i);
        for (Move& move : node.moves) ++move.stamp;
        at(node.previous).next = node.next;
        if (node.next >= 0) at(node.next).previous = node.previous;
        --alive_;
    }

    void apply(int kind, std::int32_t i) {
        const std::uint32_t cut = at(i).moves[static_cast<std::size_t>(kind)].cut;
        if (kind == kMerge) {
            const std::int32_t b = at(i).next;
            at(i).end = at(b).end;
            unlink(b);
        } else if (kind == kSplit) {
            const auto made = static_cast<std::int32_t>(nodes_.size());
            nodes_.push_back({cut, at(i).end, i, at(i).next, 0.0, {}});
            if (at(i).next >= 0) at(at(i).next).previous = made;
            at(i).next = made;
            at(i).end = cut;
            ++alive_;
        } else {
            const std::int32_t b = at(i).next;
            if (kind == kTwoForThree) {
                const std::int32_t c = at(b).next;
                at(b).end = at(c).end;
                unlink(c);
            }
            at(i).end = cut;
            at(b).begin = cut;
        }
        at(i).cost = table_.cost(at(i).begin, at(i).end);
        const std::int32_t p = at(i).previous;
        const std::int32_t pp = p < 0 ? -1 : at(p).previous;
        const std::int32_t b = kind == kMerge ? -1 : at(i).next;
        if (b >= 0) at(b).cost = table_.cost(at(b).begin, at(b).end);
        for (const std::int32_t x : {i, b}) look(kSplit, x);
        for (const std::int32_t x : {p, i, b}) look(kMerge, x), look(kShift, x);
        for (const std::int32_t x : {pp, p, i, b}) look(kTwoForThree, x);
    }

    const OrderedTable<Count>& table_;
    const Prior& prior_;
    std::size_t alive_;
    Pace pace_{1 << 10};
    double rounding_;
    std::vector<Node> nodes_;
    std::array<std::priority_queue<Entry>, 4> queues_;
};

}  // namespace bayesieve
