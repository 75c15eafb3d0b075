// The part of a link behind #: a scene and its settings. herded.live.scene_links reads the same.

/** { scene, words } of the page's address. */
export function readLink() {
  const [scene, words = ""] = location.hash.slice(1).split("?");
  return { scene, words: Object.fromEntries(new URLSearchParams(words)) };
}

/** "two?eps=0.01&seed=3". */
export function written(scene, words) {
  return `${scene}?${new URLSearchParams(words)}`;
}
