"""What stands where in the flat arrays that `predictor` lays out and the compiled functions read."""

# Rows of `features`, one value per column of the learner.
SOURCE, IS_AMOUNT, LEVEL, OTHERS, ORIGIN, UNIT, MEAN, LIMIT, CENTRE, SCALE = range(10)
LINEARS = 3  # linear views: of all columns, the fresh start's, the survivors'; CENTRE and SCALE of each
FEATURES = CENTRE + 2 * LINEARS  # rows of them
# Columns of `views`: sizes, and where its parts begin in the flat arrays.
WIDTH, RANK, EXEMPLARS, AT_COLUMNS, AT_SINGLES, AT_LOST, PLACES = range(7)
# `counts`
NEIGHBOURS, METRICS, LINEAR, FRESH, FRESH_LINEAR, SURVIVED_LINEAR, AT_LINEAR, AT_FRESH_LINEAR = range(8)
AT_SURVIVED_LINEAR, ALONE, COLUMNS, CLASSES, COUNTS = range(8, 13)
# `constants`
FURTHEST, FARTHEST, FARTHEST_LINEAR, TINY, EMPTY, TOO_MUCH, SMOOTHING, USUAL, TOGETHER = range(9)
FIRST_WEIGHT, SECOND_WEIGHT, FRESH_WEIGHT, FRESH_LINEAR_WEIGHT = range(9, 13)
SURVIVED_WEIGHT, SURVIVED_LINEAR_WEIGHT, CONSTANTS = range(13, 16)
# Rows of `mixing` are opinions, its columns what is done with them; 0 where an opinion is not asked.
METRIC, SURVIVED, JOINT, LINEAR_VIEW, FRESH_START, OPINIONS = range(6)
CALIBRATION, SHARE, POOLED, WEIGHTS = range(4)
# The last columns of the answer, after the scores of the classes.
MARGIN, NOVELTY, BEST, FRESH_BEST, ANSWERS = range(5)
