// How often two neighbours are alike on a torus of spins without fields: Kaufman (1949), exactly.

/** log Z of an n x n torus. */
function logZ(n, k) {
  const terms = [0, 0, 0, 0];
  let minus = false; // the sign of the last product: that of gamma_0
  for (let r = 0; r < 2 * n; r++) {
    const cosh = (Math.cosh(2 * k) * Math.cosh(2 * k)) / Math.sinh(2 * k) - Math.cos((Math.PI * r) / n);
    const gamma = r ? Math.acosh(cosh) : 2 * k + Math.log(Math.tanh(k));
    if (gamma < 0) minus = true;
    const half = (n * Math.abs(gamma)) / 2, even = r % 2 === 0 ? 2 : 0;
    terms[even] += half + Math.log1p(Math.exp(-2 * half));
    terms[even + 1] += half + Math.log(-Math.expm1(-2 * half));
  }
  const top = Math.max(...terms);
  const sum = terms.reduce((s, t, i) => s + (i === 3 && minus ? -1 : 1) * Math.exp(t - top), 0);
  return ((n * n) / 2) * Math.log(2 * Math.sinh(2 * k)) + top + Math.log(sum / 2);
}

/** The mean of s_i s_j over neighbours, from -1 to 1. */
export function alikeness(n, coupling) {
  const h = 1e-4;
  return (logZ(n, coupling + h) - logZ(n, coupling - h)) / (2 * h * 2 * n * n);
}

/** The same of a state of a torus: the mean over its pairs of neighbours. */
export function alikeIn(states, n, from = 0) {
  let alike = 0;
  for (let r = 0; r < n; r++) {
    for (let c = 0; c < n; c++) {
      const here = states[from + r * n + c];
      alike += here === states[from + r * n + ((c + 1) % n)] ? 1 : -1;
      alike += here === states[from + ((r + 1) % n) * n + c] ? 1 : -1;
    }
  }
  return alike / (2 * n * n);
}
