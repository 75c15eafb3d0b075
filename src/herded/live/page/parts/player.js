// Runs a scene in a worker, as fast as the speed says: asks for some sweeps, gets a frame, and asks
// again with the next picture of the screen. Nothing is computed on the page's own thread.

const BUDGET = 14; // milliseconds of sweeps for a frame
const HURRY = 100; // and for one on the way to where a link points

let rested = null; // the worker of the scene before, which has its files already

export class Player {
  /** `onFrame(frame)` gets what the scene's watch shows; `onProof(proof)` its hashes. */
  constructor(scene, { onFrame, onProof, onState, onError }) {
    Object.assign(this, { scene, onFrame, onProof, onState, onError });
    this.broken = false;
    this.hire(rested);
    rested = null;
    this.speed = 30;
    this.playing = false;
    this.due = 0;
    this.sweeps = 0;
    this.steps = 0; // that were asked for one by one
    this.target = 0;
    this.run = 0; // frames of an earlier run are thrown away
    this.tick = (now) => this.frame(now);
    this.request = null; // of the screen's next picture, while something moves
  }

  /** The worker of the scene before, or a new one. */
  hire(before) {
    this.worker = before?.worker ?? new Worker(new URL("../worker.js", import.meta.url), { type: "module" });
    this.waiting = before?.waiting ?? false; // it may be at a frame that nobody will see
    this.worker.onmessage = ({ data }) => this.take(data);
    this.worker.onerror = (event) => this.fail(event.message);
  }

  /** What was begun and not sent yet has no part in the error of a run before it. */
  fail(message) {
    if (!this.begin) {
      this.broken = true;
      return this.onError(message);
    }
    this.worker.terminate();
    this.hire(null);
    return this.send();
  }

  /** Begin anew; with `until` go there at once, running or not. */
  start(asked, until = 0) {
    this.run += 1;
    this.sweeps = this.due = this.steps = 0;
    this.target = until;
    // While the worker is at it, only the last of several new starts will count.
    this.begin = { start: this.scene, asked, run: this.run };
    if (!this.waiting) this.send();
    this.wake();
  }

  send() {
    this.waiting = true;
    this.worker?.postMessage(this.begin);
    this.begin = null;
  }

  setPlaying(playing) {
    this.playing = playing;
    this.last = undefined;
    this.onState(playing);
    this.wake();
    if (!playing && !this.waiting) this.ask(0, true);
  }

  /** One sweep more, whatever the worker is at. */
  step() {
    this.setPlaying(false);
    this.steps += 1;
    if (!this.waiting) this.walk();
  }

  walk() {
    this.steps -= 1;
    this.ask(1, true);
  }

  ask(sweeps, prove = false, budget = BUDGET) {
    this.waiting = true;
    this.worker?.postMessage({ sweeps, prove, budget, run: this.run });
  }

  /** Frames are asked for as long as there is one to come; and of no scene that was left. */
  wake() {
    const moves = this.playing || this.sweeps < this.target;
    if (moves && this.worker) this.request ??= requestAnimationFrame(this.tick);
  }

  frame(now) {
    this.request = null;
    this.wake();
    if (this.waiting) return undefined;
    if (this.sweeps < this.target) return this.ask(this.target - this.sweeps, true, HURRY);
    if (!this.playing) return undefined;
    const passed = Math.min(now - (this.last ?? now), 250);
    this.last = now;
    this.due = Math.min(this.due + (passed * this.speed) / 1000, Math.max(1, this.speed / 4));
    if (this.due >= 1) this.ask(Math.floor(this.due));
    return undefined;
  }

  take({ run, sweeps, frame, proof }) {
    this.waiting = false;
    if (this.begin) return this.send();
    if (run !== this.run) return undefined;
    this.due = Math.max(0, this.due - (sweeps - this.sweeps));
    this.sweeps = sweeps;
    this.onFrame(frame, sweeps);
    if (proof) this.onProof(proof);
    if (this.steps > 0) this.walk();
    return undefined;
  }

  remove() {
    cancelAnimationFrame(this.request);
    const { worker, waiting, broken } = this;
    this.worker = null;
    if (broken) return worker.terminate();
    rested = { worker, waiting };
    worker.onmessage = () => (rested.waiting = false);
    worker.onerror = () => {
      worker.terminate();
      rested = null;
    };
    return undefined;
  }
}
