"""The evaluation harness, `eml evaluate`: the paper's protocols, any method driven through them, one table.

Journey of one figure, each file calling only those after it:
`command -> session -> runner -> trial -> own, datasets, protocols, methods`, then `results` (with `paper`) and `table`.
"""
