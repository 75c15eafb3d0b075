"""How the bundled English model is trained, once for each release.

`train_command.py` is behind `herded ner train`. `english_model.py` has the steps: read corpora,
repair their labels (`label_repair.py`), vary the spelling (`augmentation.py`), look words up in
lists of names (`name_lists.py`), train, and write the model that the package contains.

Start reading at `english_model.py`. Tagging text needs nothing from here.
"""
