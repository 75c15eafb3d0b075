// Questions to the server of `herded live`, which Python answers.

import { served } from "../served.js";

export { served };

/** The answer, or an error whose message is a sentence for the reader. */
export async function ask(question, request) {
  let answer;
  try {
    answer = await fetch(question, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request),
    });
  } catch {
    throw new Error("Python does not answer: is `herded live` still running?");
  }
  const found = await answer.json();
  if (!answer.ok) throw new Error(found.error);
  return found;
}
