// A small Bayes net to begin with: why the lawn is wet.

export const GARDEN = `network garden {}
variable season { type discrete [ 4 ] { spring, summer, autumn, winter }; }
variable rain { type discrete [ 2 ] { no, yes }; }
variable sprinkler { type discrete [ 2 ] { off, on }; }
variable lawn { type discrete [ 3 ] { dry, damp, wet }; }
variable slippery { type discrete [ 2 ] { no, yes }; }
variable neighbour { type discrete [ 2 ] { quiet, waters }; }
variable birds { type discrete [ 3 ] { none, few, many }; }
probability ( season ) { table 0.25, 0.25, 0.25, 0.25; }
probability ( neighbour | season ) {
  (spring) 0.7, 0.3; (summer) 0.35, 0.65; (autumn) 0.8, 0.2; (winter) 0.97, 0.03;
}
probability ( rain | season ) {
  (spring) 0.65, 0.35; (summer) 0.85, 0.15; (autumn) 0.5, 0.5; (winter) 0.55, 0.45;
}
probability ( sprinkler | season, rain ) {
  (spring, no) 0.6, 0.4; (summer, no) 0.25, 0.75; (autumn, no) 0.8, 0.2; (winter, no) 0.98, 0.02;
  (spring, yes) 0.9, 0.1; (summer, yes) 0.85, 0.15; (autumn, yes) 0.97, 0.03; (winter, yes) 0.99, 0.01;
}
probability ( lawn | rain, sprinkler ) {
  (no, off) 0.85, 0.13, 0.02; (no, on) 0.05, 0.35, 0.6;
  (yes, off) 0.04, 0.36, 0.6; (yes, on) 0.01, 0.09, 0.9;
}
probability ( slippery | lawn ) { (dry) 0.98, 0.02; (damp) 0.8, 0.2; (wet) 0.35, 0.65; }
probability ( birds | lawn, season ) {
  (dry, spring) 0.3, 0.5, 0.2; (dry, summer) 0.4, 0.45, 0.15; (dry, autumn) 0.5, 0.4, 0.1; (dry, winter) 0.7, 0.25, 0.05;
  (damp, spring) 0.1, 0.4, 0.5; (damp, summer) 0.15, 0.4, 0.45; (damp, autumn) 0.3, 0.5, 0.2; (damp, winter) 0.6, 0.35, 0.05;
  (wet, spring) 0.15, 0.45, 0.4; (wet, summer) 0.2, 0.5, 0.3; (wet, autumn) 0.4, 0.45, 0.15; (wet, winter) 0.7, 0.25, 0.05;
}
`;
