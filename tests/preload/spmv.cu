namespace sparse {

template <int ROWS, typename T>
__global__ void spmv(int rows, const int* begins, const int* columns, const T* values, const T* x, T* y) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * ROWS;
  for (int row = first; row < min(first + ROWS, rows); ++row) {
    T sum = 0;
    for (int i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
  }
}

}  // namespace sparse
