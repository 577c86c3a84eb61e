"""The look of the report: plain CSS, readable on a screen and on paper."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2127; background: #fff; margin: 0; }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.2rem .8rem 2rem 1.2rem;
  background: #f6f7f9; border-right: 1px solid #dfe3e8; font-size: .85rem; }
nav h2 { font-size: .85rem; margin: 1.1rem 0 .25rem; border: 0; padding: 0; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { display: flex; justify-content: space-between; gap: .5rem; align-items: baseline; }
main { padding: 1.5rem 2.2rem 5rem; max-width: 84rem; }
a { color: #0b5cad; text-decoration: none; } a:hover { text-decoration: underline; }
h1 { font-size: 1.8rem; margin: .2rem 0 .3rem; }
h2 { font-size: 1.4rem; margin: 3.2rem 0 .4rem; padding-top: 1rem; border-top: 3px solid #1d2127; }
h3 { font-size: 1.12rem; margin: 0; display: flex; gap: .7rem; align-items: center; flex-wrap: wrap; }
h4 { font-size: .75rem; margin: 0 0 .3rem; color: #59636e; text-transform: uppercase; letter-spacing: .06em; }
p { max-width: 56rem; margin: .4rem 0 .7rem; } .pale { color: #59636e; } .small { font-size: .86rem; }
article { border: 1px solid #dfe3e8; border-radius: .5rem; padding: 1rem 1.2rem; margin: 1.1rem 0; }
.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.6rem; margin-top: .7rem; }
article > p { max-width: none; } .wide { margin-top: 1.4rem; }
figure { margin: .6rem 0 1rem; } img { display: block; max-width: min(100%, 62rem); height: auto; }
sub, sup { font-size: .75em; line-height: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; margin: .4rem 0; }
th, td { padding: .25rem .65rem; border-bottom: 1px solid #e6e9ed; text-align: left; vertical-align: top; }
th { background: #f6f7f9; font-weight: 600; white-space: nowrap; }
td.number, th.number { text-align: right; white-space: nowrap; } td.ours { font-weight: 600; }
td.pale, .note { color: #59636e; } .note { display: block; font-size: .92em; overflow-wrap: anywhere; }
.headed { width: 100%; } td.name { width: 40%; } td.unit { min-width: 3.2rem; }
.badge { display: inline-block; font-size: .74rem; font-weight: 600; line-height: 1.35; padding: .1rem .5rem;
  border-radius: 1rem; white-space: nowrap; background: #e9ecef; color: #3d454d; }
.agrees { background: #d3f0df; color: #0c5a33; } .close { background: #e3efd0; color: #3f5a0c; }
.differs, .not-found { background: #fde2cf; color: #8a3a05; } .failed { background: #f8cfcf; color: #8b1010; }
.undecided { background: #fbf0c4; color: #665200; }
.in-kind-only { background: #dde8f8; color: #1c4377; } .checked { background: #d5eff0; color: #0b4f57; }
.not-reproduced { background: #efe2f6; color: #5b2a78; }
ul.claims { padding-left: 0; list-style: none; margin: .5rem 0; } ul.claims li { margin: .5rem 0; }
details { margin: .5rem 0; } summary { cursor: pointer; color: #0b5cad; font-size: .9rem; }
pre { background: #f6f7f9; padding: .7rem; overflow-x: auto; font-size: .8rem; }
.alarm, .hint { border: 1px solid; padding: .6rem 1rem; border-radius: .5rem; margin: 1rem 0; }
.alarm { border-color: #e3a6a6; background: #fdf1f1; } .hint { border-color: #cfd9e6; background: #f3f7fc; }
@media (max-width: 70rem) {
  .page { display: block; } nav { position: static; height: auto; max-height: 22rem; }
  main { padding: 1rem; }
}
@media (max-width: 44rem) {
  .pair { grid-template-columns: 1fr; gap: .4rem; } article { padding: .8rem; }
  .headed thead { display: none; } .headed tr { display: block; padding: .5rem 0; }
  .headed tr { border-bottom: 1px solid #cfd5dc; }
  .headed td, .headed td.number { display: block; border: 0; padding: .05rem 0; text-align: left; }
  .headed td:empty { display: none; } .headed td.name { display: block; width: auto; padding-bottom: .2rem; }
  .headed td:not(.name)::before { content: attr(data-head); color: #59636e;
    display: inline-block; width: 8.6rem; }
}
@media print { nav { display: none; } .page { display: block; } article { break-inside: avoid; } }
"""
