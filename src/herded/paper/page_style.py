"""The style of the page: light and dark, on paper, on a phone.

Shadows at the ends of a wide table show that it scrolls. They lie behind two covers that move with
the scrolled content, so that a shadow is visible while there is more on its side.
"""

PAGE_STYLE = """
:root { color-scheme: light dark; --ink: #1f2937; --soft: #5b6472; --line: #e5e7eb; --page: #fff;
  --yes: #15803d; --no: #b91c1c; --new: #2563a8; --shade: rgb(0 0 0 / 25%);
  --person: #fecaca; --location: #bbf7d0; --organization: #fde68a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e5e7eb; --soft: #a3adba; --line: #374151; --page: #111827;
    --yes: #4ade80; --no: #f87171; --new: #8ab8f0; --shade: rgb(255 255 255 / 35%);
    --person: #7f1d1d; --location: #14532d; --organization: #713f12; }
}
body { margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem; background: var(--page);
  color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.5rem 0 .5rem; border-top: 1px solid var(--line);
  padding-top: 1.5rem; }
a { color: var(--new); }
nav ol { columns: 18rem; padding-left: 1.5rem; }
p.soft, figcaption, footer { color: var(--soft); font-size: .9rem; }
.claims { list-style: none; padding: 0; }
.claims li { padding: .15rem 0 .15rem 1.6rem; text-indent: -1.6rem; }
.mark { display: inline-block; width: 1.4rem; text-indent: 0; font-weight: bold; }
.mark.yes { color: var(--yes); }
.mark.no { color: var(--no); }
.mark.new { color: var(--new); }
.verdict { border-left: .25rem solid var(--new); padding-left: .8rem; }
.verdict.yes { border-color: var(--yes); }
.verdict.no { border-color: var(--no); }
.wide { overflow-x: auto; background:
  linear-gradient(90deg, var(--page) 40%, transparent) left / 2.5rem 100% no-repeat local,
  linear-gradient(270deg, var(--page) 40%, transparent) right / 2.5rem 100% no-repeat local,
  radial-gradient(farthest-side at 0 50%, var(--shade), transparent) left / 1rem 100% no-repeat,
  radial-gradient(farthest-side at 100% 50%, var(--shade), transparent) right / 1rem 100% no-repeat;
}
table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .8rem .25rem 0; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
@media (max-width: 40rem) { .named td:first-child { white-space: normal; min-width: 6rem; } }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .6rem 0;
  padding: .4rem .8rem; }
summary { cursor: pointer; }
figure { margin: 1.2rem 0; }
.panels { display: grid; gap: .5rem; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); }
.panels-1 { grid-template-columns: minmax(0, 31rem); }
.panels-2 { grid-template-columns: repeat(auto-fit, minmax(13rem, 22rem)); }
.picture { background: #fff; border-radius: .4rem; padding: .2rem; }
.picture svg { width: 100%; height: auto; display: block; }
blockquote { margin: 0; padding: .8rem 1rem; border: 1px solid var(--line); border-radius: .4rem; }
mark { color: inherit; padding: .05em .25em; border-radius: .25em; background: var(--line); }
mark.person { background: var(--person); font-style: italic; }
mark.location { background: var(--location); font-weight: bold; }
mark.organization { background: var(--organization); text-decoration: underline; }
code { font-size: .9em; }
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #ccc; --page: #fff; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  table { font-size: 8.5pt; }
  h2 { break-after: avoid; }
  .picture, .verdict, tr { break-inside: avoid; }
  figcaption:first-child { break-after: avoid; }
  .wide { overflow: visible; background: none; }
}
"""
