"""The names one can type: data sets, methods, and the defaults.

Read by `command` for its help, so it imports nothing; `datasets` and `methods` hold what the names stand for.
"""

DATASETS = ("Mnist0vs5", "Mnist0vs3vs5", "Splice", "USPS0vs5", "USPS0vs3vs5", "Satimage", "DSADS", "Gas")

ABLATIONS = {  # what one types, and the switch of LearnerConfig that is the other way round then
    "eml-woT": "transform",
    "eml-woI": "inherit",
    "eml-woW": "wasserstein",
    "eml-LR": "low_rank",  # with the paper's low-rank term, which is off
    "eml-woLinear": "linear",
    "eml-woFresh": "fresh",
}
CONTROLS = ("memory", "memory-raw", "memory-batch", "restart")
RIVALS = ("opid", "opide", "pegasos", "opml", "firf", "opmv", "tca", "bdml", "cdml")  # the paper's
METHODS = ("eml", *ABLATIONS, *CONTROLS, *RIVALS)
DEFAULT_METHODS = ("eml", *CONTROLS)

_RIVERS = ("river-lr", "river-lr-restart", "river-knn", "river-arf")
QUICK_PEERS = (*_RIVERS, "openmoa-ftrl", "openmoa-fesl", "haphazard-olvf")
SLOW_PEERS = ("openmoa-ovfm", "metric-learn-nca")  # more than three times as long as river-knn on Gas
PEERS = (*QUICK_PEERS, *SLOW_PEERS)  # run in the peers' environment
_OURS = ("eml", "eml-announced", "restart", "drop-only")
STREAM_METHODS = (*_OURS, *ABLATIONS, *PEERS)
DEFAULT_STREAM_METHODS = (*_OURS, *QUICK_PEERS)
SCHEMES = ("rotating", "sudden", "obsolete", "reappearing")  # which features come and go: see prequential.schemes
ORDERS = ("seeded", "file")  # of a stream's records
STREAM_MEMORY = 1024  # the job's default: in a stream the learner is driven as the job drives it
STREAM_RUNS = 5

HAPHAZARD_SETS = ("wpbc", "australian", "wbc", "diabetes_f", "ipd", "svmguide3")  # of the benchmark, those at hand
HAPHAZARD_ABLATIONS = ("eml-woLinear", "eml-woFresh")
HAPHAZARD_METHODS = ("eml", *HAPHAZARD_ABLATIONS, "river-lr", "majority")
DEFAULT_HAPHAZARD_METHODS = ("eml", "river-lr", "majority")

DEFAULT_MEMORY = 4096  # exemplars, the same for every method: above the T-stage of all but Mnist0vs3vs5 and DSADS
DEFAULT_RUNS = 20
STUDY_RUNS = 5
