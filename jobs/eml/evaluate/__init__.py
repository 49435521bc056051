"""The evaluation harness, `eml evaluate`: the paper's protocols, any method driven through them, one table.

Journey of one figure, each file calling only those after it:
`command -> session -> kept_trials.resume -> runner -> trial -> own, datasets, protocols, methods`, then `results` (with
`paper`) and `table`. What `kept_trials` keeps, `reporting` makes a page of, and `confirming` runs again in part after a
change of the code. `prequential` (streams) and `haphazard` (a published benchmark) have journeys of their own.
"""
