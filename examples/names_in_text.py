"""Names in a text, with the English model that comes with the package.

`tag` finds people, organisations and places with a chain model, one sentence at a time. With
`skip=True` every mention of a word is tied to its next mention in the text: what one sentence says
of "Plummer" helps with the others. The graph then has loops, so there is no exact Viterbi, and
annealed herded Gibbs searches for the best labels. Probabilities are those of the chain.

    python examples/names_in_text.py
"""

import herded as hd

TEXT = (
    "The painter Amanda Plummer opened a show in Amsterdam on Tuesday. "
    '"Plummer is new here," said a visitor from Paris. '
    "The works, Plummer said, were made last year for the World Bank."
)


def main() -> None:
    recogniser = hd.ner.load()
    print("kinds:", ", ".join(recogniser.kinds))
    chain = recogniser.tag(TEXT)
    skip_chain = recogniser.tag(TEXT, skip=True)
    for title, entities in (("chain", chain), ("skip-chain", skip_chain)):
        print(f"\n{title}: {len(entities)} names")
        for entity in entities:
            place = f"{entity.start}:{entity.end}"
            print(f"  {entity.text:<16}{entity.kind:<14}{entity.probability:.2f}  {place}")
    known = {entity.start for entity in chain}
    more = [f"{e.text} at {e.start}" for e in skip_chain if e.start not in known]
    print(f"\nfound only with ties between mentions: {', '.join(more)}")


if __name__ == "__main__":
    main()
