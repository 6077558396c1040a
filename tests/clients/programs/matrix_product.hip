// SPDX-License-Identifier: MIT
// A tiled product of matrices through LDS, whose sides are no multiple of the tile.
#include "check.h"

constexpr int TILE = 16;

__global__ void product(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float left[TILE][TILE], right[TILE][TILE + 1];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int at = 0; at < k; at += TILE) {
        left[y][x] = row < m && at + x < k ? a[row * k + at + x] : 0;
        right[y][x] = column < n && at + y < k ? b[(at + y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; ++i)
            sum += left[y][i] * right[i][x];
        __syncthreads();
    }
    if (row < m && column < n)
        c[row * n + column] = sum;
}

int main() {
    const int m = 37, n = 50, k = 61;
    std::vector<float> a(m * k), b(k * n);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = static_cast<float>(i % 7) - 3;
    for (size_t i = 0; i < b.size(); ++i)
        b[i] = static_cast<float>(i % 5) - 2;
    const OnDevice<float> da(a), db(b), dc(std::vector<float>(m * n, -1));
    product<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(
        da.data, db.data, dc.data, m, n, k);
    CHECK(hipGetLastError());
    const std::vector<float> c = dc.values();
    size_t wrong = 0;
    for (int row = 0; row < m; ++row)
        for (int column = 0; column < n; ++column) {
            float sum = 0;
            for (int i = 0; i < k; ++i)
                sum += a[row * k + i] * b[i * n + column];
            wrong += c[row * n + column] != sum;
        }
    return judge(wrong);
}
