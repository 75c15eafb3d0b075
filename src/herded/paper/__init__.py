"""The experiments of Bornn et al. (2013), one module each, and the page that shows them.

Sections: `dynamics.py` (3 and appendix A, with `dynamics_figures.py`), `theory_section.py` (3, with
`theory_tables.py` and `rotor_walk.py`), `two_variables.py` (4.1), `denoising.py` (4.2, with
`denoising_methods.py`) and the package `ner` (4.3). Each gives a `Section` with tables, figures and
verdicts (`report.py`); `html_page.py` writes all sections as one page, with `page_style.py` and
`math_symbols.py`. `herded paper` (`herded.cli.commands.paper`) runs them.

Start reading at `two_variables.py`, the shortest experiment, and `report.py`.
"""
