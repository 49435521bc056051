"""`eml evaluate convergence` and `eml evaluate surface`: the paper's two looks inside the learner, as small scenarios.

`session -> (kept_trials.resume) -> convergence or surface -> (trial, protocols, deal)`.
"""
