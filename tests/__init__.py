"""The tests of herded.

Folders mirror `src/herded`. `support` has helpers, `conformance` checks what holds across the
package, and `repository` checks the repository itself. `tests/README.md` lists every module.
"""
