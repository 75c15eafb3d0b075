// The thread that samples. It holds one watch: the chains of a scene, and what is measured of them.

import { digest } from "./sampler/digest.js";
import { HerdWatch } from "./watch/herd.js";
import { ModelWatch } from "./watch/model.js";
import { NamesWatch } from "./watch/names.js";
import { PictureWatch } from "./watch/picture.js";
import { TwoWatch } from "./watch/two.js";
import { WeightWatch } from "./watch/weight.js";

const WATCHES = { weight: WeightWatch, two: TwoWatch, picture: PictureWatch, herd: HerdWatch, names: NamesWatch, model: ModelWatch };

let watch = null;

onmessage = ({ data }) => {
  if (data.start) watch = new WATCHES[data.start](data.asked);
  else if (watch === null) return;
  const end = performance.now() + (data.budget ?? 0);
  let proof = null, left = data.sweeps ?? 0;
  while (left > 0) {
    watch.sweep();
    left -= 1;
    if (isMark(watch.sweeps)) proof = proofOf(watch);
    if (performance.now() > end) break;
  }
  if (data.prove && left === 0 && !isMark(watch.sweeps) && watch.sweeps) proof = proofOf(watch);
  const frame = watch.frame();
  const moved = Object.values(frame).filter((value) => ArrayBuffer.isView(value)).map((value) => value.buffer);
  postMessage({ run: data.run, sweeps: watch.sweeps, frame, proof }, moved);
};

/** Hashes are taken after 10, 100, 1000 .. sweeps, and where a run is paused. */
function isMark(sweeps) {
  for (let mark = 10; mark <= sweeps; mark *= 10) if (mark === sweeps) return true;
  return false;
}

function proofOf({ chains }) {
  return Object.entries(chains).map(([method, chain]) => ({ method, sweeps: chain.sweeps, hash: digest(chain) }));
}
