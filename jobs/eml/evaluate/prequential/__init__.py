"""`eml evaluate stream`: records one by one, each predicted before its label is given, through switches of features.

Journey of one figure, each file calling only those after it:
`session -> (runner) -> trial -> course, methods or peers, play, measures`, then `results` and `table`.
A peer's part of it runs in the peers' environment: `peers -> [peer -> river_models, play]`.
"""
