"""Measures print as they parse; what cannot be read is told with what can."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from surefoot import Measure
from surefoot.errors import MeasureError


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("nDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(dcg='exp-log2')@10"),
        ("nDCG(exp)@10", "nDCG(dcg='exp-log2')@10"),
        ("DCG( exp )", "DCG(dcg='exp-log2')"),
        ("SoftNDCG(exp, sigma=0.3)@5", "SoftNDCG(dcg='exp-log2',sigma=0.3)@5"),
        ("ERR@20", "ERR@20"),
        ("ERR(max_rel=4)@20", "ERR@20"),
        ("ERR(max_rel=2)@20", "ERR(max_rel=2)@20"),
        ("MAP", "AP"),
        ("AP(rel=2)@100", "AP(rel=2)@100"),
        ("RBP(rel=2, p=0.5)", "RBP(p=0.5,rel=2)"),
        ("Rprec", "Rprec"),
        ("IPrec@0.1", "IPrec@0.1"),
        ("IPrec(version=9)@0.1", "IPrec(version=9)@0.1"),
        ("IPrec(version=10)@0.1", "IPrec@0.1"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("ndcg", "nDCG"),
        ("map", "AP"),
        ("map_cut_100", "AP@100"),
        ("recip_rank", "RR"),
        ("P_10", "P@10"),
        ("recall_1000", "R@1000"),
        ("success_1", "Success@1"),
        ("bpref", "Bpref"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("iprec_at_recall_0.00", "IPrec@0"),
        (" Judged @ 10 ", "Judged@10"),
    ],
)
def test_prints_as_it_parses(written: str, printed: str) -> None:
    measure = Measure.parse(written)
    assert str(measure) == printed
    assert Measure.parse(printed) == measure


@given(st.sampled_from(["nDCG", "DCG", "ERR", "AP", "RR", "P", "R", "Success", "RBP", "Judged"]), st.integers(1, 10**6))
def test_every_family_round_trips(name: str, cutoff: int) -> None:
    assert str(Measure.parse(f"{name}@{cutoff}")) == f"{name}@{cutoff}"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nGCD@10", "did you mean nDCG"),
        ("NDCG@10", "write nDCG@10 (grade g counts g) or nDCG(exp)@10 (grade g counts 2^g − 1)"),
        ("NDCG", "write nDCG (grade g counts g) or nDCG(exp) "),
        ("nDCG(exp,dcg='log2')@10", "dcg is given twice"),
        ("AP(exp)", "cannot read the parameters"),
        ("", "unknown measure ''"),
        ("nDCG@", "unknown measure"),
        ("nDCG@0", "whole number above 0"),
        ("nDCG@1.5", "whole number above 0"),
        ("P", "P needs a cut-off; write P@10"),
        ("Rprec@10", "Rprec takes no cut-off"),
        ("IPrec@2", "recall level from 0 to 1"),
        ("IPrec(version=8)@0.1", "write version=10 (as trec_eval 10 rounds) or version=9"),
        ("P_0", "whole number above 0"),
        ("ndcg_cut_1.5", "whole number above 0"),
        ("ndcg_cut_", "unknown measure"),
        ("AP(max_rel=2)", "AP has no parameter 'max_rel'"),
        ("AP(rel='x')", "is not a number"),
        ("AP(2)", "cannot read the parameters"),
        ("AP(rel=__import__('os'))", "cannot read the parameters"),
        ("nDCG(dcg='linear')", "dcg='linear'"),
        ("RBP(p=1.5)", "must be between 0 and 1"),
        ("AP(rel=x)", "cannot read the parameters of 'AP(rel=x)'; write name=value"),
        ("AP(rel=1_0)", "cannot read the parameters"),
        ("AP(**{})", "cannot read the parameters"),
        ("AP(rel=0)", "rel=0 in 'AP(rel=0)' must be a grade above 0"),
        ("AP(rel=1, rel=2)", "rel is given twice"),
        ("ERR(max_rel=99999)", "max_rel=99999 in 'ERR(max_rel=99999)' must be a grade from 1 to 100"),
        ("ERR(max_rel=1e999)", "must be a grade from 1 to 100"),
        ("nDCG@-1", "the cut-off '-1' in 'nDCG@-1' must be a whole number above 0"),
        ("nDCG@٣", "whole number above 0"),
        ("nDCG@1_0", "whole number above 0"),
        ("AP,nDCG@10", "'AP,nDCG@10' is more than one measure; give one at a time"),
        ("beauty", "unknown measure 'beauty'. Known: nDCG,"),
        ("x" * 5000, "xxx…xxx"),
    ],
)
def test_what_cannot_be_read(written: str, message: str) -> None:
    with pytest.raises(MeasureError) as caught:
        Measure.parse(written)
    assert message in str(caught.value)
