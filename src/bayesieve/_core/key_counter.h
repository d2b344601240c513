// Class counts of keys: threads append occurrences to partitions by the beginning of the key;
// each partition is then sorted and counted by one thread, and merged with what it has.
//
// All sums are of integers, so the result does not depend on threads, pieces or the budget.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "growing_block.h"
#include "key_table.h"
#include "runtime.h"
#include "spill_file.h"
#include "symbol_rows.h"

namespace bayesieve::keys {

constexpr std::size_t kPartitions = 512;
constexpr std::size_t kNoLimit = std::size_t{48} << 20;  // occurrences held without a budget
constexpr std::size_t kSegment = std::size_t{1} << 18;   // windows of one task
constexpr std::size_t kFewKeys = std::size_t{1} << 14;   // that one thread counts at once
constexpr std::size_t kWave = std::size_t{1} << 20;      // entries made ready together, 24 MB

#pragma pack(push, 4)
struct Occurrence {  // 12 bytes: most of the memory of a count
    Key key;
    std::uint32_t row;
};
#pragma pack(pop)

struct CounterSettings {
    Spelling spelling;
    std::size_t threads = 1;
    std::size_t budget = 0;  // bytes; 0: no limit
    std::string spill_path;
    bool binary = true;
};

// Which partition a key belongs to, by its first 16 bits: partitions of about equal size, as far
// as a sample of keys tells, whose keys lie one after the other.
class Partitioning {
public:
    bool is_set() const { return !table_.empty(); }
    std::size_t operator()(Key key) const { return table_[key >> shift_]; }
    void set(const Spelling& spelling, const std::vector<Key>& sample) {
        const unsigned bits = spelling.bits(), used = bits < 16 ? bits : 16;
        shift_ = bits - used;
        const std::size_t bins = std::size_t{1} << used;
        // One key in all for each bin beside the sample, which may be small or odd. Of
        // canonical k-mers small ones are more frequent: the other strand may be smaller.
        std::vector<double> weight(bins);
        const bool halved = spelling.alphabet == Alphabet::kDna && spelling.canonical;
        for (std::size_t b = 0; b < bins; ++b)
            weight[b] = halved ? 2.0 - 2.0 * (b + 0.5) / bins : 1.0;
        for (const Key key : sample) weight[key >> shift_] += 1.0;
        double total = 0.0, before = 0.0;
        for (const double one : weight) total += one;
        table_.resize(bins);
        for (std::size_t b = 0; b < bins; ++b) {
            const double middle = before + 0.5 * weight[b];
            table_[b] = static_cast<std::uint16_t>(
                std::min<double>(kPartitions - 1, middle / total * kPartitions));
            before += weight[b];
        }
    }

private:
    unsigned shift_ = 0;
    std::vector<std::uint16_t> table_;
};

// What a file of counts begins with.
struct FileHeader {
    char magic[8] = {'b', 's', 'k', 'e', 'y', 's', '0', '2'};
    std::uint64_t entries = 0;
    std::uint32_t alphabet = 0, length = 0, canonical = 0, binary = 0;
    std::uint64_t classes = 0;  // whose numbers of rows follow the entries
    std::uint64_t sum = 0;      // of what follows, and of this header with 0 in this place
};
static_assert(sizeof(FileHeader) == 48 && sizeof(Entry) == 24, "files hold them as they are");

// Tells that a file is not as it was written. Each step is one to one in the word and in the
// value before, so that damage within one word never goes unseen.
class Checksum {
public:
    void add(const void* data, std::size_t bytes) {  // a multiple of 8
        const auto* at = static_cast<const unsigned char*>(data);
        for (std::size_t i = 0; i < bytes; i += sizeof(std::uint64_t)) {
            std::uint64_t word;
            std::memcpy(&word, at + i, sizeof(word));
            value_ = (value_ ^ word) * 0x9E3779B97F4A7C15ull;
            value_ ^= value_ >> 32;
        }
    }
    std::uint64_t value() const { return value_; }

private:
    std::uint64_t value_ = 0x243F6A8885A308D3ull;
};

// A sorted table on disk, cut at the keys where partitions begin.
struct DiskTable {
    std::shared_ptr<SpillFile> file;
    Stretch stretch;
    std::uint64_t at[kPartitions] = {};
    std::uint64_t size[kPartitions] = {};
};

class Counter {
public:
    explicit Counter(CounterSettings settings)
        : settings_(std::move(settings)), held_(kPartitions), workers_(settings_.threads) {
        settings_.spelling.check();
        pending_limit_ = kNoLimit;
        if (settings_.budget > 0)  // buffers grow by halves, and a sort needs a second one
            pending_limit_ = std::clamp<std::size_t>(
                settings_.budget / 3 / (2 * sizeof(Occurrence)), 4096, kNoLimit);
    }

    // Counts rows of symbols. `codes` has their classes, -1 to leave a row out, and `prints` a
    // random number for each; with `goes_on` the first one is the last one of the call before.
    void add(const Rows& data, const std::int32_t* codes, const std::uint64_t* prints,
             bool goes_on) {
        if (data.rows == 0) return;
        if (goes_on && next_row_ == 0) throw std::invalid_argument("no row can go on yet");
        if (!partition_of_.is_set()) choose_partitions(data);
        const std::size_t known = codes_.size();
        if (goes_on && known == 0) {  // the row was open when the last table was closed
            codes_.push_back(open_code_);
            prints_.push_back(open_print_);
            stretch_.first_row = next_row_ - 1;
            first_row_number_ = next_row_ - 1;
        } else if (known == 0) {
            first_row_number_ = next_row_;
            stretch_.first_row = kNoRow;
        }
        const std::size_t base = codes_.size() - (goes_on ? 1 : 0);
        for (std::size_t r = goes_on ? 1 : 0; r < data.rows; ++r) {
            const std::int32_t code = codes[r];
            if (code >= static_cast<std::int32_t>(Entry::kCodes))
                throw std::invalid_argument("there can be 16,384 classes at the most");
            if (code >= 0) ++rows_of(static_cast<std::size_t>(code));
            codes_.push_back(code);
            prints_.push_back(prints[r]);
            ++next_row_;
        }
        const std::size_t tasks = block_count(data.size, kSegment);
        run_tasks(settings_.threads, tasks, [&](std::size_t w, std::size_t task) {
            Worker& worker = make_worker(w);
            const std::int32_t* code = codes_.data() + base;
            const std::size_t first = task * kSegment;
            const std::size_t last = std::min(data.size, first + kSegment);
            for_each_window(settings_.spelling, data, first, last, [&](Key key, std::size_t row) {
                if (code[row] < 0) return;
                worker.buffers[partition_of_(key)].push_back(
                    {key, static_cast<std::uint32_t>(base + row)});
            });
        });
        if (pending() >= pending_limit_ || codes_.size() >= (std::size_t{1} << 30)) aggregate();
    }

    std::size_t bytes() const {
        std::size_t total = 0;
        for (const auto& tables : held_)
            for (const auto& held : tables) total += held.entries.bytes();
        for (const auto& worker : workers_)
            if (worker)
                for (const auto& buffer : worker->buffers) total += buffer.bytes();
        return total;
    }
    std::uint64_t spilled_bytes() const { return spilled_; }

    // Adds a file that `write` has made, as rows that come after all so far.
    void attach(const std::string& path) {
        aggregate();
        auto file = std::make_shared<SpillFile>();
        file->open_kept(path);
        FileHeader header;
        if (file->size() < sizeof(header)) throw std::invalid_argument("it is cut off");
        file->read(0, &header, sizeof(header));
        FileHeader own = header_of(header.entries);
        own.classes = header.classes;
        own.sum = header.sum;
        if (std::memcmp(&header, &own, sizeof(header)) != 0)
            throw std::invalid_argument("it is of another kind, or counted otherwise");
        if (header.classes > Entry::kCodes || header.entries > file->size() / sizeof(Entry) ||
            file->size() != sizeof(header) + header.entries * sizeof(Entry) +
                                header.classes * sizeof(std::uint64_t))
            throw std::invalid_argument("it is cut off");
        if (sum_of(*file, header) != header.sum)
            throw std::invalid_argument("it is damaged: it is not as it was written");
        std::vector<std::uint64_t> rows(header.classes);
        file->read(sizeof(header) + header.entries * sizeof(Entry), rows.data(),
                   rows.size() * sizeof(std::uint64_t));
        for (std::size_t c = 0; c < rows.size(); ++c) rows_of(c) += rows[c];
        const auto entry = [&](std::uint64_t i) {
            Entry found;
            file->read(sizeof(header) + i * sizeof(Entry), &found, sizeof(found));
            return found;
        };
        if (!partition_of_.is_set()) {
            std::vector<Key> sample;
            const std::uint64_t step = std::max<std::uint64_t>(1, header.entries >> 12);
            for (std::uint64_t i = 0; i < header.entries; i += step)
                sample.insert(sample.end(), 64, entry(i).key);
            partition_of_.set(settings_.spelling, sample);
        }
        DiskTable table;
        table.file = file;
        std::uint64_t begin = 0;
        for (std::size_t p = 0; p < kPartitions; ++p) {
            poll();
            std::uint64_t low = begin, high = header.entries;
            while (low < high) {
                const std::uint64_t middle = low + (high - low) / 2;
                if (partition_of_(entry(middle).key) <= p)
                    low = middle + 1;
                else
                    high = middle;
            }
            table.at[p] = sizeof(header) + begin * sizeof(Entry);
            table.size[p] = low - begin;
            begin = low;
        }
        // In the order of rows, as each of them is closed by now.
        spill();
        on_disk_.push_back(std::move(table));
    }

    // Writes all counts to one sorted file, and keeps them.
    void write(const std::string& path) {
        aggregate();
        SpillFile file;
        file.create_kept(path);
        FileHeader header = header_of(0);
        Checksum sum;
        const auto append = [&](const void* data, std::size_t bytes) {
            file.append(data, bytes);
            sum.add(data, bytes);
        };
        file.append(&header, sizeof(header));
        in_waves([](std::size_t, const Block<Entry>&) {},
                 [&](std::size_t, const Block<Entry>* ready, std::size_t count) {
                     for (std::size_t i = 0; i < count; ++i) {
                         header.entries += ready[i].size();
                         append(ready[i].data(), ready[i].size() * sizeof(Entry));
                     }
                 });
        append(class_rows_.data(), class_rows_.size() * sizeof(std::uint64_t));
        sum.add(&header, sizeof(header));
        header.sum = sum.value();
        file.rewrite(0, &header, sizeof(header));
        file.finish_writing();
    }

    // Counts what is pending; rows that come later are others, unless one goes on.
    void aggregate() {
        if (codes_.empty()) return;
        order_rows();
        stretch_.last_row = first_row_number_ + codes_.size() - 1;
        stretch_.last_print = prints_.back();
        const std::size_t threads = threads_for(settings_.threads, pending(), kFewKeys);
        run_tasks(threads, kPartitions, [&](std::size_t w, std::size_t p) {
            count_pending(make_worker(w), p);
        });
        open_code_ = codes_.back();
        open_print_ = prints_.back();
        codes_.clear();
        prints_.clear();
        if (settings_.budget == 0) return;
        std::size_t held = 0;
        for (const auto& tables : held_)
            for (const auto& one : tables) held += one.entries.bytes();
        if (held > settings_.budget / 2) spill();
    }

    // Calls work(i, entries) for each partition, in order, with all of its counts. Partitions
    // are made ready side by side, a wave at a time, and `after` is called when these are done.
    template <class Work, class After>
    void in_waves(Work work, After after, bool last = false) {
        const std::size_t wave = wave_length(), threads = useful_threads();
        std::vector<Block<Entry>> ready(wave);
        for (std::size_t first = 0; first < kPartitions; first += wave) {
            const std::size_t count = std::min(wave, kPartitions - first);
            run_tasks(threads, count, [&](std::size_t, std::size_t i) {
                gathered(first + i, ready[i], last);
                work(i, ready[i]);
            });
            after(first, ready.data(), count);
        }
    }

    // All counts of a partition, which are given up with `last`. Neighbours are merged in
    // pairs, as there may be many.
    void gathered(std::size_t p, Block<Entry>& out, bool last = false) {
        if (last && held_[p].size() == 1 && on_disk_.empty()) {
            out = std::move(held_[p][0].entries);
            for (Entry& entry : out) entry.what &= ~(std::uint64_t{3} << 48);
            std::vector<Held>().swap(held_[p]);
            return;
        }
        std::vector<Held> parts;
        for (const DiskTable& table : on_disk_) {
            if (table.size[p] == 0) continue;
            Held part;
            part.stretch = table.stretch;
            part.entries.resize(table.size[p]);
            const std::lock_guard<std::mutex> lock(reading_);
            table.file->read(table.at[p], part.entries.data(), table.size[p] * sizeof(Entry));
            parts.push_back(std::move(part));
        }
        std::vector<Table> tables;
        for (const Held& part : parts) tables.push_back(part.table());
        for (const Held& held : held_[p]) tables.push_back(held.table());
        std::vector<Held> merged;
        while (tables.size() > 1) {
            std::vector<Held> next;
            std::vector<Table> fewer;
            for (std::size_t i = 0; i + 1 < tables.size(); i += 2) {
                Held both;
                merge(tables[i], tables[i + 1], both.entries);
                both.stretch = Stretch::joined(tables[i].stretch, tables[i + 1].stretch);
                next.push_back(std::move(both));
                fewer.push_back(next.back().table());
            }
            if (tables.size() % 2 == 1) {
                Held alone;
                alone.entries.append(tables.back().entries, tables.back().size);
                alone.stretch = tables.back().stretch;
                next.push_back(std::move(alone));
                fewer.push_back(next.back().table());
            }
            merged.swap(next);
            tables.swap(fewer);
        }
        out.clear();
        if (!merged.empty())
            out = std::move(merged[0].entries);
        else if (!tables.empty())
            out.append(tables[0].entries, tables[0].size);
        for (Entry& entry : out) entry.what &= ~(std::uint64_t{3} << 48);
        if (last) std::vector<Held>().swap(held_[p]);
    }

    // Entries of all tables, a key that several have counted as often.
    std::size_t entries() const {
        std::size_t total = 0;
        for (const auto& tables : held_)
            for (const auto& held : tables) total += held.entries.size();
        for (const DiskTable& table : on_disk_)
            for (const std::uint64_t size : table.size) total += size;
        return total;
    }
    // Partitions of a wave: all where they are small, as each wave starts its threads anew.
    std::size_t wave_length() const {
        const std::size_t fit = kWave / (entries() / kPartitions + 1);
        return std::min(kPartitions, std::max(fit, 2 * std::max<std::size_t>(1, settings_.threads)));
    }
    std::size_t useful_threads() const { return threads_for(settings_.threads, entries(), kFewKeys); }
    // Rows of each class that was seen.
    const std::vector<std::uint64_t>& class_rows() const { return class_rows_; }

private:
    struct Held {
        Block<Entry> entries;
        Stretch stretch;
        Table table() const { return {entries.data(), entries.size(), stretch}; }
    };
    struct Worker {
        std::vector<Block<Occurrence>> buffers{kPartitions};
        Block<Occurrence> items, other;
        Block<Entry> merged;
    };

    std::size_t pending() const {
        std::size_t total = 0;
        for (const auto& worker : workers_)
            if (worker)
                for (const auto& buffer : worker->buffers) total += buffer.size();
        return total;
    }
    // The sum that a file should have, which is read once for it.
    static std::uint64_t sum_of(SpillFile& file, FileHeader header) {
        Checksum sum;
        Block<unsigned char> part(std::size_t{1} << 20);
        for (std::uint64_t at = sizeof(header); at < file.size(); at += part.size()) {
            poll();
            const std::size_t bytes = std::min<std::uint64_t>(part.size(), file.size() - at);
            file.read(at, part.data(), bytes);
            sum.add(part.data(), bytes);
        }
        header.sum = 0;
        sum.add(&header, sizeof(header));
        return sum.value();
    }
    FileHeader header_of(std::uint64_t entries) const {
        FileHeader header;
        header.entries = entries;
        header.alphabet = settings_.spelling.alphabet == Alphabet::kDna ? 0 : 1;
        header.length = settings_.spelling.length;
        header.canonical = settings_.spelling.canonical;
        header.classes = class_rows_.size();
        header.binary = settings_.binary;
        return header;
    }
    std::uint64_t& rows_of(std::size_t code) {
        if (code >= class_rows_.size()) class_rows_.resize(code + 1, 0);
        return class_rows_[code];
    }
    Worker& make_worker(std::size_t w) {
        if (!workers_[w]) workers_[w] = std::make_unique<Worker>();
        return *workers_[w];
    }
    void choose_partitions(const Rows& data) {
        std::vector<Key> sample;
        const std::size_t step = std::max<std::size_t>(1, data.size / kSegment / 8);
        for (std::size_t first = 0; first < data.size; first += step * kSegment)
            for_each_window(settings_.spelling, data, first,
                            std::min(data.size, first + kSegment / 4),
                            [&](Key key, std::size_t) { sample.push_back(key); });
        partition_of_.set(settings_.spelling, sample);
    }
    // Ranks of the pending rows, by class and then in order: keys of one class lie together.
    void order_rows() {
        const std::size_t n = codes_.size();
        std::vector<std::size_t> place(class_rows_.size() + 2, 0);
        for (std::size_t r = 0; r < n; ++r) ++place[codes_[r] + 2];
        for (std::size_t c = 0; c + 1 < place.size(); ++c) place[c + 1] += place[c];
        rank_.resize(n);
        row_at_.resize(n);
        for (std::size_t r = 0; r < n; ++r) {
            const std::size_t rank = place[codes_[r] + 1]++;
            rank_[r] = static_cast<std::uint32_t>(rank);
            row_at_[rank] = static_cast<std::uint32_t>(r);
        }
    }
    void count_pending(Worker& worker, std::size_t p) {
        Block<Occurrence>& items = worker.items;
        items.clear();
        for (auto& other : workers_)
            if (other) {
                items.append(other->buffers[p].data(), other->buffers[p].size());
                other->buffers[p].clear();
            }
        if (items.empty()) return;
        for (Occurrence& item : items) item.row = rank_[item.row];
        Pace pace(std::size_t{1} << 18);
        sort_items(items, worker.other);
        const bool continued = stretch_.first_row != kNoRow;
        const auto last_local = static_cast<std::uint32_t>(codes_.size() - 1);
        Held held;
        held.stretch = stretch_;
        worker.merged.clear();
        for (std::size_t i = 0; i < items.size();) {
            pace.spend(1);
            const Key key = items[i].key;
            const std::int32_t code = codes_[row_at_[items[i].row]];
            std::uint64_t count = 0, print = 0;
            bool first = false, last = false;
            do {
                const std::uint32_t rank = items[i].row, row = row_at_[rank];
                if (codes_[row] != code) break;
                std::size_t j = i + 1;
                while (j < items.size() && items[j].key == key && items[j].row == rank) ++j;
                const std::uint64_t times = settings_.binary ? 1 : j - i;
                count += times;
                print += times * prints_[row];
                if (settings_.binary) {
                    first = first || (continued && row == 0);
                    last = last || row == last_local;
                }
                i = j;
            } while (i < items.size() && items[i].key == key);
            worker.merged.push_back(Entry::of(key, print, static_cast<std::uint32_t>(code),
                                              count, first, last));
        }
        held.entries.append(worker.merged.data(), worker.merged.size());
        auto& tables = held_[p];
        tables.push_back(std::move(held));
        // Sizes fall by half or more from one table to the next: each entry is moved a few
        // times in all.
        while (tables.size() > 1) {
            Held &a = tables[tables.size() - 2], &b = tables.back();
            if (a.entries.size() > 2 * b.entries.size()) break;
            join_last_two(worker, tables);
        }
    }
    void join_last_two(Worker& worker, std::vector<Held>& tables) {
        Held &a = tables[tables.size() - 2], &b = tables.back();
        merge(a.table(), b.table(), worker.merged);
        const Stretch joined = Stretch::joined(a.stretch, b.stretch);
        Block<Entry> whole;
        whole.append(worker.merged.data(), worker.merged.size());
        tables.pop_back();
        tables.back().entries.swap(whole);
        tables.back().stretch = joined;
    }
    // Moves all tables in memory to the end of those on disk.
    void spill() {
        bool any = false;
        for (const auto& tables : held_) any = any || !tables.empty();
        if (!any) return;
        DiskTable table;
        table.file = spill_file();
        table.stretch = {since_spill_, stretch_.last_row, stretch_.last_print};
        for (std::size_t p = 0; p < kPartitions; ++p) {
            auto& tables = held_[p];
            while (tables.size() > 1) join_last_two(make_worker(0), tables);
            if (tables.empty()) continue;
            Held& one = tables[0];
            // Flags speak of the rows at the ends of the whole table from now on.
            std::uint64_t kept = ~std::uint64_t{0};
            if (one.stretch.first_row != since_spill_) kept &= ~(std::uint64_t{1} << 49);
            if (one.stretch.last_row != stretch_.last_row) kept &= ~(std::uint64_t{1} << 48);
            for (Entry& entry : one.entries) entry.what &= kept;
            table.at[p] = table.file->append(one.entries.data(),
                                             one.entries.size() * sizeof(Entry));
            table.size[p] = one.entries.size();
            spilled_ += one.entries.size() * sizeof(Entry);
            std::vector<Held>().swap(tables);
        }
        table.file->finish_writing();
        on_disk_.push_back(std::move(table));
        since_spill_ = stretch_.last_row;
    }
    std::shared_ptr<SpillFile> spill_file() {
        if (!spill_) {
            spill_ = std::make_shared<SpillFile>();
            spill_->create(settings_.spill_path);
        }
        return spill_;
    }

    CounterSettings settings_;
    std::size_t pending_limit_;
    Partitioning partition_of_;
    std::vector<std::vector<Held>> held_;  // of each partition, in the order of rows
    std::vector<DiskTable> on_disk_;       // all of them before those in memory
    std::vector<std::unique_ptr<Worker>> workers_;
    std::shared_ptr<SpillFile> spill_;
    std::uint64_t spilled_ = 0;
    std::mutex reading_;

    // Rows of what is pending, numbered from first_row_number_.
    std::vector<std::int32_t> codes_;
    std::vector<std::uint64_t> prints_;
    std::vector<std::uint32_t> rank_, row_at_;
    std::vector<std::uint64_t> class_rows_;
    std::uint64_t next_row_ = 0, first_row_number_ = 0;
    Stretch stretch_;
    std::uint64_t since_spill_ = kNoRow;
    std::int32_t open_code_ = -1;
    std::uint64_t open_print_ = 0;
};

}  // namespace bayesieve::keys
