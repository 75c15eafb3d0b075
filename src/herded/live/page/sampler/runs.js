// From the words of a link to a chain that runs: the models of the scenes, as
// herded.live.scenes has them.

import { decodeNumbers, decodePicture } from "./coding.js";
import { fixedScalar, log } from "./exp.js";
import { GridChain } from "./grid.js";
import { GridHerd } from "./herd.js";
import { MeanField } from "./mean_field.js";
import { noisyPicture } from "./picture.js";
import { TableChain } from "./table.js";

export const MEMBERS = 16, SIDE = 20, COUPLING = 1;

/** The chain of a scene by one method; `asked` has the words of a link as texts. */
export function makeChain(scene, asked, method) {
  return { weight, two, picture, herd, names: model, model }[scene](asked, method);
}

function weight(asked, method) {
  const p = Number(asked.p);
  return tableChain([fixedScalar(log(1 - p), log(p))], [0, 0], [], [0], method, asked);
}

/** The paper's table 1; both start in the smaller mode. */
function two(asked, method) {
  const eps = Number(asked.eps);
  const both = log(0.25 - eps), unlike = log(eps), ones = log(0.75 - eps);
  const row = [fixedScalar(both, unlike), fixedScalar(unlike, ones)];
  return tableChain([...row, ...row], [0, 1, 2], [1, 0], [0, 0], method, asked);
}

function tableChain(p, neighbourStart, neighbour, start, method, asked) {
  const n = start.length, rows = p.length / n;
  const table = {
    cardinalities: Array(n).fill(2),
    order: start.map((_, i) => i),
    entryStart: Array.from({ length: n + 1 }, (_, i) => i * rows),
    neighbourStart,
    neighbour,
    scalar: true,
    p: Uint32Array.from(p),
  };
  return new TableChain(table, { method, seed: Number(asked.seed), chain: Number(asked.chain ?? 0), start });
}

/** Denoising: the posterior of a picture seen through noise; all start at what is seen. */
function picture(asked, method) {
  const side = Number(asked.size), sigma = Number(asked.noise), seed = Number(asked.seed);
  const noisy = noisyPicture(decodePicture(asked.p, side * side), sigma, seed);
  const variance = sigma * sigma, field = noisy.map((y) => y / variance);
  const model = { height: side, width: side, field, coupling: COUPLING, periodic: false };
  if (method === "mean") return new MeanField(model);
  return gridChain(model, method, seed, Uint8Array.from(noisy, (y) => (y > 0 ? 1 : 0)));
}

/** A ring of rows and columns without fields. */
function herd(asked, method) {
  const field = new Float64Array(SIDE * SIDE), coupling = Number(asked.coupling);
  const model = { height: SIDE, width: SIDE, field, coupling, periodic: true };
  return gridChain(model, method, Number(asked.seed), null);
}

function gridChain(model, method, seed, start) {
  const chain =
    method === "herd"
      ? new GridHerd(model, { members: MEMBERS, seed })
      : new GridChain(model, { method, seed });
  if (start !== null) chain.setStates(start);
  return chain;
}

/** A net or a text whose tables Python has made; `chain` is its number among independent ones. */
function model({ table, seed, chain = 0 }, method) {
  for (const p of ["p", "herdedP"]) {
    if (typeof table[p] === "string") table[p] = decodeNumbers(table[p]); // once, for all chains
  }
  return new TableChain(table, { method, seed: Number(seed), chain: Number(chain), start: table.starts[chain] });
}
