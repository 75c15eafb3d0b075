"""Tests of the live page: its server, its bits under Node, and its scenes in a browser.

`linked_runs` prints hashes of runs, `scene_screenshots` takes pictures of every scene, and
`live_speed.mjs` measures the speed under Node.
"""
