// Eigenvalues of matrices that are not symmetric, and their right eigenvectors: `cusolverDnXgeev`.
#include <Eigen/Eigenvalues>

#include "cuda/driver/cusolver/handle.h"

namespace palladion::cuda::cusolver {
namespace {

constexpr int no_vectors = 0;  // cusolverEigMode_t

struct Eigen64 {
  Vector<Complex64> values;
  Matrix<Complex64> vectors;
  bool converged = false;
};
Eigen64 solved(const Matrix<double>& a, bool with_vectors) {
  const Eigen::EigenSolver<Matrix<double>> solver(a, with_vectors);
  const bool converged = solver.info() == Eigen::Success;
  return {solver.eigenvalues(), with_vectors && converged ? solver.eigenvectors() : Matrix<Complex64>(),
          converged};
}
Eigen64 solved(const Matrix<Complex64>& a, bool with_vectors) {
  const Eigen::ComplexEigenSolver<Matrix<Complex64>> solver(a, with_vectors);
  const bool converged = solver.info() == Eigen::Success;
  return {solver.eigenvalues(), with_vectors && converged ? solver.eigenvectors() : Matrix<Complex64>(),
          converged};
}

// Real matrices have the vectors of a conjugate pair as two columns, the real and the imaginary part.
void pack(const Eigen64& all, Matrix<Complex64>& out) { out = all.vectors; }
void pack(const Eigen64& all, Matrix<double>& out) {
  out = all.vectors.real();
  for (int64_t j = 0; j + 1 < out.cols(); ++j)
    if (all.values[j].imag() != 0) {
      out.col(j + 1) = all.vectors.col(j).imag();
      ++j;
    }
}

template <class T>
using Complex = std::complex<Real<T>>;

template <class T>
Status geev(Handle* h, const char* name, bool with_vectors, Operand<T> a, Complex<T>* w, Operand<T> v,
            int* info) {
  if (!a.fits() || (with_vectors && !v.fits())) return invalid_value;
  const Operand<Complex<T>> values = row_of(w, a.rows);
  return run(h, name,
             {a.piece(true, false), values.piece(false, true), with_vectors ? v.piece(false, true) : Piece{},
              row_of(info, 1).piece(false, true)},
             [=](void* const* views) {
               *static_cast<int*>(views[3]) = 0;
               if (a.rows == 0) return;
               const Eigen64 all = solved(a.read(views[0]), with_vectors);
               *static_cast<int*>(views[3]) = all.converged ? 0 : 1;
               if (!all.converged) return;
               values.write(all.values, views[1]);
               if (!with_vectors) return;
               Matrix<Wide<T>> packed;
               pack(all, packed);
               v.write(packed, views[2]);
             });
}

}  // namespace
}  // namespace palladion::cuda::cusolver

using namespace palladion::cuda::cusolver;

PLD_STAND_IN Status cusolverDnXgeev_bufferSize(Handle*, void*, int, int, int64_t, Type, const void*, int64_t,
                                               Type, const void*, Type, const void*, int64_t, Type,
                                               const void*, int64_t, Type, size_t* device, size_t* host) {
  return no_room(device, host);
}
// The eigenvalues of real matrices are complex here as well; left vectors NVIDIA's has none of, either.
PLD_STAND_IN Status cusolverDnXgeev(Handle* h, void*, int left, int right, int64_t n, Type type, void* a,
                                    int64_t lda, Type type_w, void* w, Type, void*, int64_t, Type, void* vr,
                                    int64_t ldvr, Type, void*, size_t, void*, size_t, int* info) {
  const char* const name = "cusolverDnXgeev";
  if (left != no_vectors || (type_w != Type::c32 && type_w != Type::c64)) {
    palladion_exec_unsupported(left != no_vectors ? "cusolverDnXgeev with left vectors"
                                                  : "cusolverDnXgeev with eigenvalues in two real arrays");
    return not_supported;
  }
  return with_type(name, type, [&]<class T>(T) {
    return geev<T>(h, name, right != no_vectors, {static_cast<T*>(a), n, n, lda}, static_cast<Complex<T>*>(w),
                   {static_cast<T*>(vr), n, n, ldvr}, info);
  });
}
