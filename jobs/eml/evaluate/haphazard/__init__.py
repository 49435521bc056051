"""`eml evaluate haphazard`: a published benchmark of inputs that come and go, on its exact streams.

Journey of one figure, each file calling only those after it:
`session -> (kept_trials, runner) -> trial -> streams, methods or the peers of the stream`, then `results` (with
`published`) and `table`.
"""
