"""The names in an article, with their probabilities: by the chain alone, and with ties.

`skip=True` ties every mention of a word to its next one, so that what one sentence says of Plummer
helps with the others: Viterbi goes through the sentences in rounds. Probabilities are the chain's.
"""

import herded as hd

ARTICLE = (
    "The painter Amanda Plummer opened a show in Amsterdam on Tuesday. "
    '"Plummer is new here," said a visitor from Paris. '
    "The works, Plummer said, were made last year for the World Bank."
)


def main() -> None:
    recogniser = hd.ner.load()
    chain = recogniser.tag(ARTICLE)
    tied = recogniser.tag(ARTICLE, skip=True)
    for title, entities in (("chain", chain), ("with ties", tied)):
        print(f"{title}: {len(entities)} names")
        for entity in entities:
            print(f"  {entity.text:<16}{entity.kind:<14}{entity.probability:.2f}")
    more = [f"{entity.text} at {entity.start}" for entity in tied if entity not in chain]
    print("found only with ties:", ", ".join(more))


if __name__ == "__main__":
    main()
