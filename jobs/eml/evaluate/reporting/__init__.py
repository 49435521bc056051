"""`eml evaluate report`: what was kept with `--keep`, as tables and one page. Nothing is run.

Journey of the report, each file calling only those after it:
`session -> contents -> sections, pictures -> compare -> gather, significance`, then `markdown` and `page` write the
`document`.
"""
