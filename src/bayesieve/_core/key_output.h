// What counts of keys become: a column for each key, or for each set of rows they occur in.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "growing_block.h"
#include "key_counter.h"

namespace bayesieve::keys {

// Sizes of each partition, and after `prepare` where its columns and pairs begin.
struct Sizes {
    std::vector<std::size_t> columns = std::vector<std::size_t>(kPartitions + 1, 0);
    std::vector<std::size_t> pairs = std::vector<std::size_t>(kPartitions + 1, 0);

    void prepare() {
        std::size_t column = 0, pair = 0;
        for (std::size_t p = 0; p <= kPartitions; ++p) {
            const std::size_t own = columns[p], also = pairs[p];
            columns[p] = column, pairs[p] = pair;
            column += own, pair += also;
        }
    }
};

// Calls work(first, last) for the entries of each key that is in so many rows or more.
template <class Work>
void for_each_kept(const Block<Entry>& entries, std::uint64_t least, Work work) {
    for_each_key(entries.data(), entries.size(), [&](std::size_t first, std::size_t last) {
        std::uint64_t count = 0;
        for (std::size_t i = first; i < last; ++i) count += entries[i].count();
        if (count >= least) work(first, last);
    });
}

inline Sizes measured(Counter& counter, std::uint64_t least) {
    Sizes sizes;
    run_tasks(counter.useful_threads(), kPartitions, [&](std::size_t, std::size_t p) {
        Block<Entry> entries;
        counter.gathered(p, entries);
        for_each_kept(entries, least, [&](std::size_t first, std::size_t last) {
            ++sizes.columns[p];
            sizes.pairs[p] += last - first;
        });
    });
    sizes.prepare();
    return sizes;
}

// A table of counts to fill, dense (classes, columns) or by columns.
struct CountTable {
    std::size_t columns = 0;
    const std::int32_t* row_of = nullptr;  // of each code
    bool dense = true;
    double* count = nullptr;
    std::int64_t* start = nullptr;
    std::int32_t* code = nullptr;

    // Writes a column of so many (class, count), the first one at `pair`.
    template <class What>
    void set(std::size_t column, std::size_t pair, std::size_t size, What what) const {
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint64_t own = what(i);
            const std::int32_t row = row_of[own >> 50];
            const auto value = static_cast<double>(own & Entry::kMost);
            if (dense) {
                count[static_cast<std::size_t>(row) * columns + column] = value;
                continue;
            }
            std::size_t at = pair + i;  // rows rise within a column
            for (; at > pair && code[at - 1] > row; --at) {
                code[at] = code[at - 1];
                count[at] = count[at - 1];
            }
            code[at] = row;
            count[at] = value;
        }
        if (!dense) start[column + 1] = static_cast<std::int64_t>(pair + size);
    }
};

inline void write_columns(Counter& counter, const Sizes& sizes, std::uint64_t least, Key* keys,
                          const CountTable& table) {
    run_tasks(counter.useful_threads(), kPartitions, [&](std::size_t, std::size_t p) {
        Block<Entry> entries;
        counter.gathered(p, entries, true);
        std::size_t column = sizes.columns[p], pair = sizes.pairs[p];
        for_each_kept(entries, least, [&](std::size_t first, std::size_t last) {
            keys[column] = entries[first].key;
            table.set(column, pair, last - first,
                      [&](std::size_t i) { return entries[first + i].what; });
            pair += last - first;
            ++column;
        });
    });
}

// Keys grouped by the rows they occur in. Each group is one column: keys of equal print and
// equal counts. Groups are in the order of their first keys.
class Groups {
public:
    Block<Key> keys;
    Block<std::uint32_t> group;  // of each key

    void collect(Counter& counter, std::uint64_t least) {
        const std::size_t threads = counter.useful_threads(), wave = counter.wave_length();
        std::vector<Block<Found>> found(wave);
        std::vector<std::array<Block<std::uint32_t>, kShards>> found_by(wave);
        counter.in_waves(
            [&](std::size_t i, const Block<Entry>& entries) {
                found[i].clear();
                for (auto& some : found_by[i]) some.clear();
                for_each_kept(entries, least, [&](std::size_t first, std::size_t last) {
                    std::uint64_t print = 0, other = 0x9E3779B97F4A7C15ull;
                    for (std::size_t e = first; e < last; ++e) {
                        print += entries[e].print;
                        other = mixed(other ^ entries[e].what);
                    }
                    const std::uint64_t mark = mixed(print) ^ other;
                    found_by[i][mark >> 60].push_back(static_cast<std::uint32_t>(found[i].size()));
                    found[i].push_back({mark, static_cast<std::uint32_t>(first),
                                        static_cast<std::uint32_t>(last)});
                });
            },
            [&](std::size_t, const Block<Entry>* entries, std::size_t count) {
                std::vector<std::size_t> begin(count);
                for (std::size_t i = 0; i < count; ++i) {
                    begin[i] = keys.size();
                    const std::size_t after = begin[i] + found[i].size();
                    if (after > keys.size()) grow(after);
                }
                run_tasks(threads, count, [&](std::size_t, std::size_t i) {
                    for (std::size_t j = 0; j < found[i].size(); ++j)
                        keys[begin[i] + j] = entries[i][found[i][j].first].key;
                });
                run_tasks(threads, kShards, [&](std::size_t, std::size_t s) {
                    for (std::size_t i = 0; i < count; ++i)
                        for (const std::uint32_t j : found_by[i][s])
                            group[begin[i] + j] =
                                static_cast<std::uint32_t>(s) << 28 |
                                shards_[s].number(found[i][j], begin[i] + j, entries[i]);
                });
            },
            true);
        number_groups(threads);
    }
    std::size_t columns() const { return order_.size(); }
    std::size_t pairs() const {
        std::size_t total = 0;
        for (const Shard& shard : shards_) total += shard.pairs.size();
        return total;
    }
    void write(std::int64_t* first_key, const CountTable& table) const {
        std::size_t pair = 0;
        for (std::size_t column = 0; column < order_.size(); ++column) {
            const auto [first, s, local] = order_[column];
            first_key[column] = static_cast<std::int64_t>(first);
            const Shard& shard = shards_[s];
            const std::size_t begin = local == 0 ? 0 : shard.pair_end[local - 1];
            const std::size_t size = shard.pair_end[local] - begin;
            table.set(column, pair, size, [&](std::size_t i) { return shard.pairs[begin + i]; });
            pair += size;
        }
    }

private:
    static constexpr std::size_t kShards = 16;  // one thread each, so that none waits
    struct Found {
        std::uint64_t mark;  // of the rows and the counts
        std::uint32_t first, last;
    };
    struct Place {
        std::uint64_t first;  // position of its first key
        std::uint32_t shard, local;
    };
    struct Shard {
        Block<std::uint64_t> marks;
        Block<std::uint32_t> numbers;  // 0: free
        Block<std::uint64_t> first, pair_end, pairs;

        std::uint32_t number(const Found& found, std::size_t at, const Block<Entry>& entries) {
            if ((first.size() + 1) * 3 > numbers.size() * 2) widen();
            const std::size_t mask = numbers.size() - 1;
            std::size_t slot = found.mark & mask;
            for (; numbers[slot] != 0; slot = (slot + 1) & mask)
                if (marks[slot] == found.mark) return numbers[slot] - 1;
            if (first.size() >= (std::size_t{1} << 28) - 1)
                throw std::length_error("too many different sets of rows");
            marks[slot] = found.mark;
            first.push_back(at);
            for (std::size_t i = found.first; i < found.last; ++i)
                pairs.push_back(entries[i].what);
            pair_end.push_back(pairs.size());
            numbers[slot] = static_cast<std::uint32_t>(first.size());
            return numbers[slot] - 1;
        }
        void widen() {
            Block<std::uint64_t> old_marks;
            Block<std::uint32_t> old;
            old_marks.swap(marks);
            old.swap(numbers);
            const std::size_t size = old.empty() ? 1024 : old.size() * 2;
            marks.resize(size);
            numbers.resize(size);
            std::fill(numbers.begin(), numbers.end(), 0u);
            for (std::size_t i = 0; i < old.size(); ++i) {
                if (old[i] == 0) continue;
                std::size_t slot = old_marks[i] & (size - 1);
                while (numbers[slot] != 0) slot = (slot + 1) & (size - 1);
                marks[slot] = old_marks[i];
                numbers[slot] = old[i];
            }
        }
    };

    static std::uint64_t mixed(std::uint64_t x) {
        x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
        x = (x ^ x >> 27) * 0x94D049BB133111EBull;
        return x ^ x >> 31;
    }
    void grow(std::size_t size) {
        if (size > keys.size() && keys.bytes() < size * sizeof(Key)) {
            keys.reserve(size + size / 8);
            group.reserve(size + size / 8);
        }
        keys.resize(size);
        group.resize(size);
    }
    void number_groups(std::size_t threads) {
        for (std::uint32_t s = 0; s < kShards; ++s) {
            shards_[s].marks.release();
            shards_[s].numbers.release();
            for (std::size_t i = 0; i < shards_[s].first.size(); ++i)
                order_.push_back({shards_[s].first[i], s, static_cast<std::uint32_t>(i)});
        }
        std::sort(order_.begin(), order_.end(),
                  [](const Place& a, const Place& b) { return a.first < b.first; });
        std::vector<std::vector<std::uint32_t>> number(kShards);
        for (std::size_t s = 0; s < kShards; ++s) number[s].resize(shards_[s].first.size());
        for (std::size_t i = 0; i < order_.size(); ++i)
            number[order_[i].shard][order_[i].local] = static_cast<std::uint32_t>(i);
        constexpr std::size_t kStretch = std::size_t{1} << 18;
        run_tasks(threads, block_count(group.size(), kStretch), [&](std::size_t, std::size_t b) {
            const std::size_t end = std::min(group.size(), (b + 1) * kStretch);
            for (std::size_t i = b * kStretch; i < end; ++i)
                group[i] = number[group[i] >> 28][group[i] & ((1u << 28) - 1)];
        });
    }

    Shard shards_[kShards];
    std::vector<Place> order_;
};

}  // namespace bayesieve::keys
