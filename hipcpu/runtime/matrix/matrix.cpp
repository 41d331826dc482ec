// Theory of operation: the elements of A and B are decoded first, for all lanes at once; then a row of B is an array of
// neighbouring values, and each row of D gets rows of B, each times an element of A. AMD says where elements are:
// element k of row i of A is the (k % E)th of the E values in lane i + M * (block + BLOCKS * (k / E)), and B has its
// columns as A has its rows. Rows of D lie side by side in a register; 4 neighbouring rows, or one of doubles, are in
// neighbouring registers.
//
// AMD does not say in which order products are added, nor what is rounded. Here they are added to C one after the
// other, from k = 0 on, each by a fused multiply-add.
#include "matrix.h"

#include <cstdlib>
#include <cstring>

#include "elements.h"

namespace wavepool {
namespace matrix {
namespace {
constexpr int kLanes = int(kWavefront);
template <class V> using Lanes = V[kLanes];

struct Modifiers {
    uint32_t cbsz, abid, blgp;

    explicit Modifiers(MatrixInstruction instruction)
        : cbsz(instruction >> 8 & 15), abid(instruction >> 12 & 15), blgp(instruction >> 16 & 7) {}
};

// The `at`th value of each lane in the registers from `first` on.
template <class T> void decode(const Lanes<uint32_t>* first, int at, Lanes<typename T::Value>& out) {
    constexpr int per_word = 32 / T::bits;
    for (int lane = 0; lane < kLanes; lane += kStep) {
        Words words;
        std::memcpy(&words, &first[at / per_word][lane], sizeof words);
        const auto values = T::decoded(words, at % per_word);
        std::memcpy(&out[lane], &values, sizeof values);
    }
}
template <> void decode<f64>(const Lanes<uint32_t>* first, int at, Lanes<double>& out) {
    for (int lane = 0; lane < kLanes; ++lane)
        out[lane] = __builtin_bit_cast(double, uint64_t(first[2 * at + 1][lane]) << 32 | first[2 * at][lane]);
}

template <class V> void negate(Lanes<V>& values) {
    for (V& value : values) value = -value;
}

// The lane whose B a lane uses.
int chosen_lane(int lane, uint32_t blgp) {
    if (blgp == 0) return lane;
    if (blgp == 1) return lane % 32;
    if (blgp == 2) return lane % 32 + 32;
    if (blgp == 3) return (lane + 16) % kLanes;
    return lane % 16 + 16 * (int(blgp) - 4);
}
template <class V> void choose_lanes(Lanes<V>& values, uint32_t blgp) {
    Lanes<V> old;
    std::memcpy(old, values, sizeof old);
    for (int lane = 0; lane < kLanes; ++lane) values[lane] = old[chosen_lane(lane, blgp)];
}

// The decoded elements of A or B; SIZE is the number of rows or columns.
template <class T, int SIZE, int DEPTH, int BLOCKS> struct Source {
    using Value = typename T::Value;
    static constexpr int in_lane = SIZE * DEPTH * BLOCKS / kLanes;
    alignas(64) Lanes<Value> values[in_lane];

    explicit Source(const Lanes<uint32_t>* first) {
        for (int at = 0; at < in_lane; ++at) decode<T>(first, at, values[at]);
    }
    static constexpr int lane(int block, int k) { return SIZE * (block + BLOCKS * (k / in_lane)); }
    // Element k of row or column 0 of a block; those of the others follow.
    const Value* at(int block, int k) const { return &values[k % in_lane][lane(block, k)]; }
};

// C, which becomes D, as numbers.
template <class T, int M, int N, int BLOCKS> class Target {
public:
    using Value = typename T::Value;
    static constexpr int height = sizeof(Value) == 8 ? 1 : 4;  // rows in neighbouring registers
    static constexpr int count = M * N * BLOCKS / kLanes;
    static_assert(M % height == 0 && sizeof(Value) / 4 * count <= wp_matrix_words - wp_matrix_d);

    explicit Target(MatrixRegisters& registers) : words_(&registers.words[wp_matrix_d]) {
        if constexpr (sizeof(Value) == 8)
            for (int at = 0; at < count; ++at) decode<T>(words_, at, values_[at]);
        else std::memcpy(values_, words_, sizeof values_);
    }
    void write() const {
        for (int at = 0; at < count; ++at) {
            if constexpr (sizeof(Value) == 8)
                for (int lane = 0; lane < kLanes; ++lane) {
                    const auto bits = __builtin_bit_cast(uint64_t, values_[at][lane]);
                    words_[2 * at][lane] = uint32_t(bits), words_[2 * at + 1][lane] = uint32_t(bits >> 32);
                }
            else std::memcpy(words_[at], values_[at], sizeof values_[at]);
        }
    }
    void negate_all() {
        for (Lanes<Value>& lanes : values_) negate(lanes);
    }

    // Adds `terms` products to the rows from `row` on that are in neighbouring registers: of `a(row, at)` and the N
    // values at `b(row, at)`.
    template <class A, class B> void add(int block, int row, int terms, A a, B b) {
        constexpr int width = N < 8 ? N : 8, parts = N < 16 ? 1 : 2;
        using Part = Value __attribute__((ext_vector_type(width)));
        for (int column = 0; column < N; column += parts * width) {
            Value* const first = &values_[number(block, row)][lane(block, row) + column];
            Part sums[height][parts];
            for (int i = 0; i < height; ++i) std::memcpy(sums[i], first + i * kLanes, sizeof sums[i]);
            for (int at = 0; at < terms; ++at)
                for (int i = 0; i < height; ++i)
                    for (int part = 0; part < parts; ++part) {
                        Part values;
                        std::memcpy(&values, b(row + i, at) + column + part * width, sizeof values);
                        if constexpr (__is_same(Value, uint32_t)) sums[i][part] += a(row + i, at) * values;
                        else sums[i][part] = __builtin_elementwise_fma(Part(a(row + i, at)), values, sums[i][part]);
                    }
            for (int i = 0; i < height; ++i) std::memcpy(first + i * kLanes, sums[i], sizeof sums[i]);
        }
    }

private:
    static constexpr int strips = kLanes / N;  // rows side by side in one register
    static constexpr int sharing = M * N / height < kLanes ? kLanes / (M * N / height) : 1;  // blocks in it
    static constexpr int number(int block, int row) {
        return block * (M * N / kLanes) + row / (height * strips) * height + row % height;
    }
    static constexpr int lane(int block, int row) {
        return (block % sharing + row / height % strips * sharing) * N;
    }

    Lanes<uint32_t>* words_;
    alignas(64) Lanes<Value> values_[count];
};

template <int M, int N, int K, int BLOCKS, class A, class B, class D>
void multiply(Modifiers modifiers, MatrixRegisters& registers) {
    Source<A, M, K, BLOCKS> a(&registers.words[wp_matrix_a]);
    Source<B, N, K, BLOCKS> b(&registers.words[wp_matrix_b]);
    Target<D, M, N, BLOCKS> d(registers);
    if constexpr (sizeof(typename D::Value) == 8) {
        if (modifiers.blgp & 1)
            for (auto& lanes : a.values) negate(lanes);
        if (modifiers.blgp & 2)
            for (auto& lanes : b.values) negate(lanes);
        if (modifiers.blgp & 4) d.negate_all();
    } else if (modifiers.blgp) {
        for (auto& lanes : b.values) choose_lanes(lanes, modifiers.blgp);
    }
    for (int block = 0; block < BLOCKS; ++block) {
        const uint32_t sharing = (1u << modifiers.cbsz) - 1;  // blocks that use the A of one
        const int block_of_a = int((uint32_t(block) & ~sharing) | (modifiers.abid & sharing)) % BLOCKS;
        for (int row = 0; row < M; row += d.height)
            d.add(
                block, row, K, [&](int i, int k) { return a.at(block_of_a, k)[i]; },
                [&](int, int k) { return b.at(block, k); });
    }
    d.write();
}

// Of each 4 values of a row of A two are there, and 2 bits for each say which one it is.
template <int M, int N, int K, class A, class B, class D>
void multiply_sparse(Modifiers modifiers, MatrixRegisters& registers) {
    const Source<A, M, K / 2, 1> a(&registers.words[wp_matrix_a]);
    const Source<B, N, K, 1> b(&registers.words[wp_matrix_b]);
    Target<D, M, N, 1> d(registers);
    const uint32_t set = modifiers.cbsz & 3 ? 0 : modifiers.abid * a.in_lane * 2 % 32;
    const Lanes<uint32_t>& indices = registers.words[wp_matrix_index];
    const auto k_of = [&](int row, int at) {
        const uint32_t index = indices[a.lane(0, at) + row] >> (set + uint32_t(at % a.in_lane) * 2) & 3;
        return at / 2 * 4 + int(index);
    };
    for (int row = 0; row < M; row += d.height)
        d.add(
            0, row, K / 2, [&](int i, int at) { return a.at(0, at)[i]; },
            [&](int i, int at) { return b.at(0, k_of(i, at)); });
    d.write();
}

using Multiply = void (*)(Modifiers, MatrixRegisters&);
constexpr Multiply kOperations[wp_matrix_operations] = {
    nullptr,
#define MFMA(NAME, M, N, K, BLOCKS, A, B, D, MODIFIERS) multiply<M, N, K, BLOCKS, A, B, D>,
#define SMFMAC(NAME, M, N, K, A, B, D) multiply_sparse<M, N, K, A, B, D>,
#define GONE(NAME, INSTEAD)
#include "wavepool/threads/matrix_instructions.inc"
#undef MFMA
#undef SMFMAC
#undef GONE
};
}  // namespace
}  // namespace matrix

void execute(MatrixInstruction instruction, MatrixRegisters& registers) {
    const uint32_t operation = instruction & 0xff;
    if (operation == wp_no_matrix_operation || operation >= wp_matrix_operations) std::abort();
    matrix::kOperations[operation](matrix::Modifiers(instruction), registers);
}

}  // namespace wavepool
