// FASTA and FASTQ, piece by piece, as bases without headers, qualities and line ends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "growing_block.h"
#include "runtime.h"
#include "symbol_rows.h"

namespace bayesieve::keys {

// What each byte of a line of bases is.
enum : std::uint8_t { kOther = kBreak, kSkip = 5, kWrong = 6 };

inline const std::array<std::uint8_t, 256>& base_of_byte() {
    static const std::array<std::uint8_t, 256> table = [] {
        std::array<std::uint8_t, 256> all{};
        all.fill(kWrong);
        for (int letter = 'a'; letter <= 'z'; ++letter)
            all[letter] = all[letter - 'a' + 'A'] = kOther;
        for (const char gap : {'-', '.', '*'}) all[static_cast<unsigned char>(gap)] = kOther;
        for (const char blank : {' ', '\t', '\r'}) all[static_cast<unsigned char>(blank)] = kSkip;
        const char* bases = "ACGTacgt";
        for (int i = 0; i < 8; ++i) all[static_cast<unsigned char>(bases[i])] = i % 4;
        all['U'] = all['u'] = 3;
        return all;
    }();
    return table;
}

class SequenceReader {
public:
    // With `records` each record is a row, else all of them are one and windows do not go
    // from one to the next. `overlap` bases of a record that goes on are given again.
    SequenceReader(std::size_t overlap, bool records) : overlap_(overlap), records_(records) {}

    Block<std::uint8_t> bases;
    Block<std::int64_t> starts;  // of rows in `bases`
    Block<std::uint8_t> names;   // of the records that begin here, one after the other
    Block<std::int64_t> name_ends;
    bool goes_on = false;  // whether the first row began in an earlier piece

    std::uint64_t letters() const { return letters_; }
    std::uint64_t others() const { return others_; }  // letters that are no base, without N
    std::uint64_t record_count() const { return count_; }

    void read(const std::uint8_t* data, std::size_t size) {
        begin_piece();
        Pace pace(std::size_t{1} << 20);
        const std::uint8_t *at = data, *const end = data + size;
        skip_byte_order_mark(at, end);
        while (at < end) {
            const auto* stop = static_cast<const std::uint8_t*>(std::memchr(at, '\n', end - at));
            const std::size_t length = (stop == nullptr ? end : stop) - at;
            pace.spend(length);
            if (line_ == 1) look_for_returns(at, length);
            part_of_line(at, length);
            if (stop == nullptr) return;
            end_line();
            at = stop + 1;
        }
    }
    // After the last piece; gives one more, which holds a record without bases at most.
    void finish() {
        begin_piece();
        if (line_ == 1 && alone_)
            wrong("lines must end in line feeds. Got carriage returns alone, as on old Macs");
        if (!fresh_) end_line();
        // A file of bases alone may end with any of them, one with qualities after these only.
        if (state_ == State::kQuality || state_ == State::kPlus ||
            (state_ == State::kBases && fastq_))
            wrong("the file ends within a record, whose qualities are missing or too few");
    }

private:
    enum class State { kBefore, kHeader, kBases, kPlus, kQuality };

    void begin_piece() {
        const std::size_t kept = open_row_ ? std::min(overlap_, row_bases_) : 0;
        Block<std::uint8_t> tail;
        tail.append(bases.data() + (bases.size() - kept), kept);
        bases.clear();
        bases.append(tail.data(), kept);
        starts.clear();
        names.clear();
        name_ends.clear();
        goes_on = open_row_;
        if (open_row_) starts.push_back(0);
    }

    // Editors put one before the first letter.
    void skip_byte_order_mark(const std::uint8_t*& at, const std::uint8_t* end) {
        static constexpr std::uint8_t kMark[] = {0xEF, 0xBB, 0xBF};
        for (; mark_ < sizeof(kMark) && at < end; ++at, ++mark_) {
            if (*at == kMark[mark_]) continue;
            if (mark_ > 0) wrong(kBeginnings);
            mark_ = sizeof(kMark);
            return;
        }
    }
    void look_for_returns(const std::uint8_t* text, std::size_t length) {
        for (std::size_t i = 0; i < length && !alone_; ++i) {
            alone_ = returned_ && text[i] != '\r';
            returned_ = text[i] == '\r';
        }
    }
    // A line may come in parts, when a piece ends within it.
    void part_of_line(const std::uint8_t* text, std::size_t length) {
        if (fresh_ && length > 0) begin_line(text, length);
        switch (state_) {
            case State::kHeader:
                if (records_) header_.append(text, length);
                break;
            case State::kBases: add_bases(text, length); break;
            case State::kQuality:
                for (std::size_t i = 0; i < length; ++i) qualities_ += text[i] > ' ';
                break;
            default: break;
        }
    }
    void begin_line(const std::uint8_t*& text, std::size_t& length) {
        fresh_ = false;
        const std::uint8_t first = *text;
        const bool between = state_ == State::kBefore || (state_ == State::kBases && !fastq_);
        if (state_ == State::kBefore && !known_) {
            if (first == ' ' || first == '\t' || first == '\r') return;
            if (first != '>' && first != '@' && first != ';')
                wrong(kBeginnings);
            if (first != ';') known_ = true, fastq_ = first == '@';
        }
        if (between && first == ';' && !fastq_) {
            comment_ = true;
            length = 0;
            return;
        }
        if (between && first == (fastq_ ? '@' : '>')) {
            state_ = State::kHeader;
            ++text, --length;
            header_.clear();
        } else if (state_ == State::kBefore && first > ' ') {
            wrong("a record of a FASTQ file begins with '@'");
        } else if (state_ == State::kBases && fastq_ && first == '+') {
            state_ = State::kPlus;
        }
    }
    void end_line() {
        ++line_;
        fresh_ = true;
        comment_ = false;
        if (state_ == State::kHeader) {
            begin_record();
            state_ = State::kBases;
        } else if (state_ == State::kPlus) {
            state_ = State::kQuality;
            qualities_ = 0;
            if (record_letters_ == 0) state_ = State::kBefore;
        } else if (state_ == State::kQuality) {
            if (qualities_ > record_letters_)
                wrong("a record has more qualities than bases");
            if (qualities_ == record_letters_) state_ = State::kBefore;
        }
    }
    void begin_record() {
        ++count_;
        record_letters_ = 0;
        if (records_ || !open_row_) {
            starts.push_back(static_cast<std::int64_t>(bases.size()));
            row_bases_ = 0;
        } else {
            bases.push_back(kBreak);
            ++row_bases_;
        }
        open_row_ = true;
        if (!records_) return;
        std::size_t length = header_.size();
        while (length > 0 && header_[length - 1] <= ' ') --length;
        names.append(header_.data(), length);
        name_ends.push_back(static_cast<std::int64_t>(names.size()));
    }
    void add_bases(const std::uint8_t* text, std::size_t length) {
        if (comment_) return;
        const auto& table = base_of_byte();
        const std::size_t before = bases.size();
        bases.resize(before + length);
        std::uint8_t* to = bases.data() + before;
        std::uint8_t largest = 0;
        for (std::size_t i = 0; i < length; ++i) {
            to[i] = table[text[i]];
            largest = std::max(largest, to[i]);
        }
        std::size_t kept = length;
        if (largest >= kOther) {
            kept = 0;
            for (std::size_t i = 0; i < length; ++i) {
                const std::uint8_t base = table[text[i]];
                if (base == kSkip) continue;
                if (base == kWrong)
                    wrong("bases must be letters. Got " + shown(text[i]));
                others_ += base == kOther && (text[i] | 0x20) != 'n';
                to[kept++] = base;
            }
        }
        bases.resize(before + kept);
        row_bases_ += kept;
        letters_ += kept;
        record_letters_ += kept;
    }
    static std::string shown(std::uint8_t byte) {
        if (byte > ' ' && byte < 127) return std::string("'") + static_cast<char>(byte) + "'";
        return "the byte " + std::to_string(byte);
    }
    [[noreturn]] void wrong(const std::string& what) const {
        throw std::invalid_argument("line " + std::to_string(line_) + ": " + what);
    }

    static constexpr const char* kBeginnings =
        "a FASTA file begins with '>' and a FASTQ file with '@'";

    std::size_t overlap_;
    bool records_;
    State state_ = State::kBefore;
    bool fresh_ = true, known_ = false, fastq_ = false, comment_ = false, open_row_ = false;
    std::size_t mark_ = 0;       // bytes of a byte order mark that were there
    bool returned_ = false, alone_ = false;  // a carriage return in line 1, and one within it
    std::size_t row_bases_ = 0;  // of the open row, with breaks
    Block<std::uint8_t> header_;  // of the record that begins, which may come in parts
    std::uint64_t line_ = 1, letters_ = 0, others_ = 0, count_ = 0;
    std::uint64_t record_letters_ = 0, qualities_ = 0;
};

}  // namespace bayesieve::keys
