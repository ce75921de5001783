"""What decisions take by default.

It imports nothing heavy, so that the command line can show all of it before anything is loaded.
"""

from enum import StrEnum

DELTA = 0.05  # the chance of shipping what breaks a condition, or of stopping what keeps them all
LEAST_DELTA, MOST_DELTA = 1e-12, 0.5  # below it no number of queries decides, beyond it a coin does as well
DECIDING_SHARE = 0.8  # share of resamples that must decide for a number of queries to be called enough
RESAMPLES = 200  # of the judged queries, for that number
MOST_QUERIES_TRIED = 10_000  # queries, or twice as many as are judged; where these would not decide, no number is given
MOST_HURT_LISTED = 20  # queries hurt most that a decision lists
EXIT_CODES = {"ship": 0, "stop": 1, "undecided": 3}  # the command's exit codes; an error's is 2
EVERY_SEGMENT = "*"  # as a segment's name in a policy: each of them
DEFAULT_RISK_LEVEL = 0.02  # of risk, that a guard keeps
DEFAULT_BUDGET = 1_000  # queries that will be judged at most, about, where a guard opens batch by batch
DEFAULT_SCORER = "predicted_gain"  # of a guard
NO_AUTOMATIC_REASON = (
    "a guard cannot use automatic judgments yet, because nothing is proved for its thresholds with them; leave "
    "them out, or decide on the whole candidate with surefoot gate --automatic"
)
NO_FILL_REASON = (
    "judgments whose holes were filled by an automatic judge cannot decide: a judge that favours a system would "
    "decide for it. Let people judge the holes, or draw queries with surefoot judge next --automatic, and decide "
    "with it"
)


class NothingToLoseTreatment(StrEnum):
    """What becomes of judged queries on which nothing can be lost, answered or not: `unanswered` of users.

    In a plain sample they are left out, or count as a part of traffic.
    """

    leave_out = "leave-out"
    counted = "count"
