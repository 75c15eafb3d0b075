// node tests/live/live_speed.mjs: sweeps per second of processor time on a picture of 256 x 256 pixels.

import { cpus } from "node:os";
import { encodePicture } from "../../src/herded/live/page/sampler/coding.js";
import { makeChain } from "../../src/herded/live/page/sampler/runs.js";

const SIDE = 256, SECONDS = 2;
const ring = (i) => Math.abs(Math.hypot((i % SIDE) - 128, Math.floor(i / SIDE) - 128) - 70) < 24;
const p = encodePicture(Uint8Array.from({ length: SIDE * SIDE }, (_, i) => (ring(i) ? 1 : 0)));

console.log(`${cpus()[0].model}, Node ${process.version}`);
for (const method of ["herded", "shared", "gibbs", "herd", "mean"]) {
  const chain = makeChain("picture", { size: SIDE, noise: "2", seed: "0", p }, method);
  for (let i = 0; i < 10; i++) chain.sweep(); // the compiler looks first
  const began = process.cpuUsage();
  let sweeps = 0, spent = 0;
  while (spent < SECONDS) {
    chain.sweep();
    sweeps += 1;
    const { user, system } = process.cpuUsage(began);
    spent = (user + system) / 1e6;
  }
  console.log(`${method.padEnd(8)}${Math.round(sweeps / spent)} sweeps per second`);
}
