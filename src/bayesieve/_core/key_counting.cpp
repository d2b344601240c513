// Python's face of counting k-mers and bytes; see key_counter.h for how it works.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "arrays.h"
#include "kernel.h"
#include "key_counter.h"
#include "key_output.h"
#include "sequence_reader.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

using namespace bayesieve;
using namespace bayesieve::keys;

template <class T>
using Given = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Spelling spelling_of(bool dna, unsigned length, bool canonical) {
    Spelling spelling{dna ? Alphabet::kDna : Alphabet::kBytes, length, dna && canonical};
    spelling.check();
    return spelling;
}

Rows rows_of(const Given<std::uint8_t>& symbols, const Given<std::int64_t>& starts) {
    const auto size = static_cast<std::int64_t>(symbols.shape(0));
    std::int64_t before = 0;
    for (std::size_t i = 0; i < starts.shape(0); ++i) {
        if (starts.data()[i] < before || starts.data()[i] > size)
            throw std::invalid_argument("rows must begin one after the other");
        before = starts.data()[i];
    }
    return {symbols.data(), symbols.shape(0), starts.data(), starts.shape(0)};
}

// Gives a block to Python without a copy.
template <class T>
Made<T> handed_over(Block<T>&& block) {
    auto held = std::make_unique<Block<T>>(std::move(block));
    T* data = held->data();
    const std::size_t size = held->size();
    nb::capsule owner(held.get(), [](void* p) noexcept { delete static_cast<Block<T>*>(p); });
    held.release();
    return Made<T>(data, {size}, owner);
}

template <class T>
Made<T> copied(const Block<T>& block) {
    Block<T> copy;
    copy.append(block.data(), block.size());
    return handed_over(std::move(copy));
}

class Reader {
public:
    Reader(std::size_t overlap, bool records) : reader_(overlap, records) {}
    nb::tuple read(const Given<std::uint8_t>& data) {
        {
            const Kernel kernel;
            const std::lock_guard<std::mutex> lock(guard_);
            reader_.read(data.data(), data.shape(0));
        }
        return piece();
    }
    nb::tuple finish() {
        {
            const Kernel kernel;
            const std::lock_guard<std::mutex> lock(guard_);
            reader_.finish();
        }
        return piece();
    }
    std::uint64_t letters() const { return reader_.letters(); }
    std::uint64_t others() const { return reader_.others(); }
    std::uint64_t records() const { return reader_.record_count(); }

private:
    nb::tuple piece() const {
        Block<std::int64_t> ends;
        ends.push_back(0);
        ends.append(reader_.name_ends.data(), reader_.name_ends.size());
        return nb::make_tuple(copied(reader_.bases), copied(reader_.starts),
                              copied(reader_.names), handed_over(std::move(ends)),
                              reader_.goes_on);
    }
    SequenceReader reader_;
    std::mutex guard_;
};

class KeyCounter {
public:
    KeyCounter(bool dna, unsigned length, bool canonical, bool binary,
               std::size_t threads, std::size_t budget, const char* spill_path) {
        CounterSettings settings;
        settings.spelling = spelling_of(dna, length, canonical);
        settings.binary = binary;
        settings.threads = std::max<std::size_t>(1, threads);
        settings.budget = budget;
        settings.spill_path = spill_path;
        counter_ = std::make_unique<Counter>(std::move(settings));
    }
    void add(const Given<std::uint8_t>& symbols, const Given<std::int64_t>& starts,
             const Given<std::int32_t>& codes, const Given<std::uint64_t>& prints,
             bool goes_on) {
        const Rows rows = rows_of(symbols, starts);
        if (codes.shape(0) != rows.rows || prints.shape(0) != rows.rows)
            throw std::invalid_argument("there must be one code and one print for each row");
        for (std::size_t i = 0; i < rows.rows; ++i)
            if (codes.data()[i] < -1) throw std::invalid_argument("a code is below -1");
        whole([&](Counter& mine) { mine.add(rows, codes.data(), prints.data(), goes_on); });
    }
    void attach(const char* path) {
        whole([&](Counter& mine) { mine.attach(path); });
    }
    void write(const char* path) {
        whole([&](Counter& mine) { mine.write(path); });
    }
    nb::tuple finish(const ClassIds& row_of, std::size_t dense_cells, std::uint64_t least) {
        Sizes sizes;
        std::unique_ptr<Counter> taken;
        whole([&](Counter& mine) {
            check_rows(row_of, mine);
            mine.aggregate();
            sizes = measured(mine, least);
            taken = std::move(counter_);
        });
        const std::size_t columns = sizes.columns[kPartitions];
        Zeros<Key> keys(columns);
        Filled table(columns, sizes.pairs[kPartitions], row_of, dense_cells);
        {
            const Kernel kernel;
            write_columns(*taken, sizes, least, keys.data(), table.view());
            taken.reset();
        }
        return nb::make_tuple(keys.array(), table.arrays());
    }
    nb::tuple finish_groups(const ClassIds& row_of, std::size_t dense_cells,
                            std::uint64_t least) {
        Groups groups;
        whole([&](Counter& mine) {
            check_rows(row_of, mine);
            mine.aggregate();
            groups.collect(mine, least);
            counter_.reset();
        });
        Filled table(groups.columns(), groups.pairs(), row_of, dense_cells);
        Zeros<std::int64_t> first(groups.columns());
        {
            const Kernel kernel;
            groups.write(first.data(), table.view());
        }
        return nb::make_tuple(handed_over(std::move(groups.keys)),
                              handed_over(std::move(groups.group)), first.array(),
                              table.arrays());
    }
    Made<std::uint64_t> class_rows() {
        const std::lock_guard<std::mutex> lock(guard_);
        return to_numpy(std::vector<std::uint64_t>(counter().class_rows()));
    }
    std::size_t bytes() {
        const std::lock_guard<std::mutex> lock(guard_);
        return counter().bytes();
    }
    std::uint64_t spilled() {
        const std::lock_guard<std::mutex> lock(guard_);
        return counter().spilled_bytes();
    }

private:
    // The arrays of a table of counts.
    class Filled {
    public:
        Filled(std::size_t columns, std::size_t pairs, const ClassIds& row_of,
               std::size_t dense_cells)
            : columns_(columns), row_of_(row_of), classes_(row_of.shape(0)),
              dense_(classes_ == 2 || columns <= dense_cells / classes_),
              count_(dense_ ? classes_ * columns : pairs), start_(dense_ ? 0 : columns + 1),
              code_(dense_ ? 0 : pairs) {}
        CountTable view() {
            return {columns_, row_of_.data(), dense_, count_.data(), start_.data(), code_.data()};
        }
        nb::tuple arrays() {
            if (dense_) return nb::make_tuple(count_.table(classes_, columns_));
            return nb::make_tuple(count_.array(), code_.array(), start_.array());
        }

    private:
        std::size_t columns_;
        ClassIds row_of_;
        std::size_t classes_;
        bool dense_;
        Zeros<double> count_;
        Zeros<std::int64_t> start_;
        Zeros<std::int32_t> code_;
    };
    // Rows of the table for codes: each once.
    static void check_rows(const ClassIds& row_of, const Counter& mine) {
        std::vector<bool> seen(row_of.shape(0), false);
        bool good = row_of.shape(0) > 0 && mine.class_rows().size() <= row_of.shape(0);
        for (std::size_t i = 0; good && i < row_of.shape(0); ++i) {
            const std::int32_t row = row_of.data()[i];
            good = row >= 0 && row < static_cast<std::int64_t>(seen.size()) && !seen[row];
            if (good) seen[row] = true;
        }
        if (!good) throw std::invalid_argument("each class must have a row of its own");
    }
    // Work that was interrupted leaves counts that are neither before nor after it.
    template <class Work>
    void whole(Work work) {
        const Kernel kernel;
        const std::lock_guard<std::mutex> lock(guard_);
        Counter& mine = counter();
        try {
            work(mine);
        } catch (...) {
            counter_.reset();
            throw;
        }
    }
    Counter& counter() {
        if (!counter_)
            throw std::runtime_error("the counts have been taken, or were lost when counting "
                                     "was interrupted");
        return *counter_;
    }
    std::unique_ptr<Counter> counter_;
    std::mutex guard_;
};

// Where keys occur: a table of the keys sought, behind a filter of bits that keeps most others out.
class KeyMatcher {
public:
    KeyMatcher(bool dna, unsigned length, bool canonical, const Given<Key>& keys,
               std::size_t threads)
        : spelling_(spelling_of(dna, length, canonical)), threads_(std::max<std::size_t>(1, threads)) {
        const Kernel kernel;
        std::size_t slots = 64;
        while (slots < keys.shape(0) * 2) slots *= 2;
        if (keys.shape(0) >= 0x7FFFFFFFu) throw std::length_error("too many keys are sought");
        slots_.resize(slots);
        keys_.resize(slots);
        std::fill(slots_.begin(), slots_.end(), -1);
        Pace pace(std::size_t{1} << 16);
        for (std::size_t i = 0; i < keys.shape(0); ++i) {
            pace.spend(1);
            std::size_t at = place(keys.data()[i]);
            while (slots_[at] >= 0) at = (at + 1) & (slots - 1);
            slots_[at] = static_cast<std::int32_t>(i);
            keys_[at] = keys.data()[i];
        }
    }
    // Occurrences as (row, position of the key), in order.
    nb::tuple match(const Given<std::uint8_t>& symbols, const Given<std::int64_t>& starts) const {
        const Rows data = rows_of(symbols, starts);
        Block<std::int64_t> rows;
        Block<std::int32_t> found;
        {
            const Kernel kernel;
            const std::size_t tasks = block_count(data.size, kSegment);
            std::vector<Block<std::int64_t>> row_parts(tasks);
            std::vector<Block<std::int32_t>> found_parts(tasks);
            run_tasks(threads_, tasks, [&](std::size_t, std::size_t t) {
                for_each_window(spelling_, data, t * kSegment,
                                std::min(data.size, (t + 1) * kSegment),
                                [&](Key key, std::size_t row) {
                                    const std::int32_t at = find(key);
                                    if (at < 0) return;
                                    row_parts[t].push_back(static_cast<std::int64_t>(row));
                                    found_parts[t].push_back(at);
                                });
            });
            for (std::size_t t = 0; t < tasks; ++t) {
                rows.append(row_parts[t].data(), row_parts[t].size());
                found.append(found_parts[t].data(), found_parts[t].size());
            }
        }
        return nb::make_tuple(handed_over(std::move(rows)), handed_over(std::move(found)));
    }

private:
    std::size_t place(Key key) const {
        return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15ull >> 20) & (slots_.size() - 1);
    }
    std::int32_t find(Key key) const {
        for (std::size_t at = place(key);; at = (at + 1) & (slots_.size() - 1)) {
            if (slots_[at] < 0) return -1;
            if (keys_[at] == key) return slots_[at];
        }
    }
    Spelling spelling_;
    std::size_t threads_;
    Block<std::int32_t> slots_;
    Block<Key> keys_;
};

// The strings that keys stand for, each of the same length, one after the other.
Made<std::uint8_t> spell_keys(const Given<Key>& keys, bool dna, unsigned length) {
    const Spelling spelling = spelling_of(dna, length, false);
    Block<std::uint8_t> text(keys.shape(0) * length);
    {
        const Kernel kernel;
        for_each_stretch(keys.shape(0), [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i)
                spelling.write(keys.data()[i],
                               reinterpret_cast<char*>(text.data()) + i * length);
        });
    }
    return handed_over(std::move(text));
}

// The union of two rising lists of keys, and where the keys of both are in it.
nb::tuple merge_keys(const Given<Key>& a, const Given<Key>& b) {
    const std::size_t n = a.shape(0), m = b.shape(0);
    Block<Key> both;
    Block<std::int64_t> own(n), others(m);
    {
        const Kernel kernel;
        both.reserve(n + m);
        Pace pace(std::size_t{1} << 18);
        std::size_t i = 0, j = 0;
        while (i < n || j < m) {
            pace.spend(1);
            const auto at = static_cast<std::int64_t>(both.size());
            const bool left = j == m || (i < n && a.data()[i] <= b.data()[j]);
            const bool right = i == n || (j < m && b.data()[j] <= a.data()[i]);
            both.push_back(left ? a.data()[i] : b.data()[j]);
            if (left) own[i++] = at;
            if (right) others[j++] = at;
        }
    }
    return nb::make_tuple(handed_over(std::move(both)), handed_over(std::move(own)),
                          handed_over(std::move(others)));
}

}  // namespace

void register_key_counting(nb::module_& m) {
    nb::class_<Reader>(m, "SequenceReader", "FASTA and FASTQ as bases, piece by piece.")
        .def(nb::init<std::size_t, bool>(), "overlap"_a, "records"_a)
        .def("read", &Reader::read, "data"_a)
        .def("finish", &Reader::finish)
        .def_prop_ro("letters", &Reader::letters)
        .def_prop_ro("others", &Reader::others)
        .def_prop_ro("records", &Reader::records);
    nb::class_<KeyCounter>(m, "KeyCounter", "Class counts of k-mers, or of bytes.")
        .def(nb::init<bool, unsigned, bool, bool, std::size_t, std::size_t, const char*>(),
             "dna"_a, "length"_a, "canonical"_a, "binary"_a, "threads"_a,
             "budget"_a, "spill_path"_a)
        .def("add", &KeyCounter::add, "symbols"_a, "starts"_a, "codes"_a, "prints"_a,
             "goes_on"_a)
        .def("attach", &KeyCounter::attach, "path"_a)
        .def("write", &KeyCounter::write, "path"_a)
        .def("finish", &KeyCounter::finish, "row_of"_a, "dense_cells"_a, "least"_a)
        .def("finish_groups", &KeyCounter::finish_groups, "row_of"_a, "dense_cells"_a,
             "least"_a)
        .def("class_rows", &KeyCounter::class_rows)
        .def_prop_ro("nbytes", &KeyCounter::bytes)
        .def_prop_ro("spilled_bytes", &KeyCounter::spilled);
    nb::class_<KeyMatcher>(m, "KeyMatcher", "Finds keys in rows of symbols.")
        .def(nb::init<bool, unsigned, bool, const Given<Key>&, std::size_t>(), "dna"_a,
             "length"_a, "canonical"_a, "keys"_a, "threads"_a)
        .def("match", &KeyMatcher::match, "symbols"_a, "starts"_a);
    m.def("spell_keys", &spell_keys, "keys"_a, "dna"_a, "length"_a,
          "The strings that keys stand for, one after the other.");
    m.def("merge_keys", &merge_keys, "a"_a, "b"_a,
          "The union of two rising lists of keys, and where the keys of both are in it.");
}
