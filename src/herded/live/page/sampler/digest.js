// What is compared with herded: the SHA-256 of the states after the last sweep, a byte each,
// member after member, and then of how often each variable was in each of its states, as 64-bit
// whole numbers, the lowest byte first.

import { sha256 } from "./sha256.js";

export function digest(chain) {
  const states = chain.states, counts = chain.counts ?? bothCounts(chain);
  const bytes = new Uint8Array(states.length + 8 * counts.length);
  const view = new DataView(bytes.buffer);
  bytes.set(states);
  counts.forEach((count, i) => {
    view.setUint32(states.length + 8 * i, count % 2 ** 32, true);
    view.setUint32(states.length + 8 * i + 4, Math.floor(count / 2 ** 32), true);
  });
  return sha256(bytes);
}

/** Binary chains count ones only. */
function bothCounts({ ones, sweeps, members }) {
  const both = new Float64Array(2 * ones.length);
  ones.forEach((count, i) => {
    both[2 * i] = sweeps * members - count;
    both[2 * i + 1] = count;
  });
  return both;
}
