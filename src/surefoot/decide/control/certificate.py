"""The certificate: what a controller proves, in plain data, in one honest sentence, as text and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from surefoot.data.hashes import check_seal
from surefoot.decide.control.certificate_data import (
    NAMES_1,
    SCHEMA,
    SCHEMA_1,
    CertificateData,
    certificate_schema,
    from_version_1,
)
from surefoot.decide.control.certificate_notebook import to_notebook
from surefoot.decide.evidence.conditions import condition_named
from surefoot.errors import DataError, listed, visible
from surefoot.report.escapes import csv_text
from surefoot.report.html import render_page
from surefoot.report.line_chart import Line, line_chart
from surefoot.report.measure_names import measure_note, measure_title
from surefoot.report.numbers import fixed, short, signed
from surefoot.report.result import PlainResult
from surefoot.risk.plain_data import Json


class Certificate(PlainResult, Mapping[str, Any]):
    """What is proved of the lists that a controller shows; its fields are also reached as those of a dict.

    `print` it for people, `write_json` and `write_html` it for the record. One that was changed is not read back.
    """

    schemas = (SCHEMA,)
    shape = CertificateData
    called = "a certificate"

    @classmethod
    def from_dict(cls, data: Json) -> Self:
        """The certificate whose plain data this is, if it is as it was written; that of version 1 is converted."""
        if not isinstance(data, dict) or data.get("schema") not in (SCHEMA, SCHEMA_1):
            raise DataError(f"is not {cls.called}; expected JSON with the schema {SCHEMA!r}")
        check_seal(data, "the certificate")
        if data["schema"] == SCHEMA_1:
            data = from_version_1(data)
        absent = [name for name in certificate_schema()["$defs"]["CertificateData"]["required"] if name not in data]
        if absent:
            raise DataError(f"is not whole, as {cls.called}: it lacks {listed(absent)}")
        return super().from_dict(data)

    def __getitem__(self, name: str) -> Any:
        """A field; also by the name that version 1 had for it."""
        return self._data[NAMES_1.get(name, name)]

    def __iter__(self) -> Iterator[str]:
        """The fields' names."""
        return iter(self._data)

    def __len__(self) -> int:
        """How many fields there are."""
        return len(self._data)

    def __repr__(self) -> str:
        """The sentence."""
        return f"<Certificate: {self._data['sentence']}>"

    def to_text(self) -> str:  # type: ignore[override]  # no table: its lines have no width
        """The sentence, the figures, and what is assumed."""
        rows = _rows(self._data)
        width = max(len(name) for name, _ in rows)
        lines = [
            self._data["sentence"],
            "",
            *(f"  {name:<{width}}  {value}" for name, value in rows),
            "",
            "It assumes:",
        ]
        return "\n".join(visible(line) for line in [*lines, *(f"  - {one}" for one in self._data["assumptions"])])

    def to_csv(self) -> str:
        """The curve of level against gain kept."""
        points = self._data["curve"]
        header = ["loss", "level", "gain", "gain_kept", "share_shown"]
        names = [self._data["loss"], *(other["loss"] for other in self._data["other_losses"])]
        lines = [
            [name, level, point["gain"], point["gain_kept"], point["share_shown"]]
            for point in points
            for name, level in zip(names, point["level"], strict=True)
        ]
        return csv_text(header, lines)

    def _repr_html_(self) -> str:
        """What a notebook shows: what is proved, and the figures."""
        return to_notebook(self._data, _rows(self._data))

    def page(self) -> str:
        """One page: the sentence, the curve, the figures, what is assumed."""
        data = self._data
        points = data["curve"]
        drawing = None
        if points:
            levels = [point["level"][0] for point in points]
            gains = [100 * point["gain_kept"] if point["gain_kept"] is not None else point["gain"] for point in points]
            in_percent = all(point["gain_kept"] is not None for point in points)
            y_label = "% of the gain kept" if in_percent else "gain"
            drawing = line_chart(
                levels, [Line(y_label, gains)], label="Level against gain kept", from_zero=True,
                x_label=f"level of {data['loss']}", y_label=y_label,
            )  # fmt: skip
        return render_page(
            "surefoot.decide.control/assets/certificate.html.j2",
            ["surefoot.report/assets/charts.css"],
            title=visible(f"{data['candidate']} instead of {data['baseline']}: what is proved"),
            sentence=visible(data["sentence"]),
            drawing=drawing,
            rows=[(visible(name), visible(value)) for name, value in _rows(data)],
            assumptions=[visible(one) for one in data["assumptions"]],
        )


def sentence(data: Mapping[str, Any]) -> str:
    """All of it as one honest sentence."""
    base, measure = data["baseline"], measure_title(data["measure"])
    if data["threshold"] is None:
        return f"Nothing but {base} is shown, so nothing can be lost: {data['reason']}."
    bounded = [{"loss": data["loss"], "level": data["level"]}, *data["other_losses"]]
    losses = " and ".join(_promise(one["loss"], one["level"], measure) for one in bounded)
    traffic = {
        "plain": f"traffic like the {data['queries']:,} judged queries",
        "drawn": f"the traffic that the {data['queries']:,} judged queries were drawn from",
        "strata": f"traffic with the shares given for its strata, judged on {data['queries']:,} queries",
    }[data["weights"]["kind"]]
    drift = f", even if queries become {data['drift']:g} times as frequent" if data["drift"] > 1 else ""
    if data["method"] == "crc":
        sure = "on average over many such calibrations, though a single one may exceed it (conformal risk control)"
    else:
        chance = f"{100 * data['delta']:.3g} %"
        sure = f"a claim that is wrong for at most {chance} of sets of queries drawn so ({data['method']})"
    kept = "" if data["gain_kept"] is None else f", {data['gain_kept']:.0%} of what it would gain everywhere"
    shown = data["shown"]
    return (
        f"Shown where its score is at least {short(data['threshold'])}, {data['candidate']} {losses} against "
        f"{base} over {traffic}{drift}, {sure}; of the judged queries {shown['share_shown']:.0%} got its list, and "
        f"over all of them it lost {shown['risk']:.4f} and gained {fixed(shown['gain'], 4)} on balance{kept}."
    )


def _promise(loss: str, level: float, measure: str) -> str:
    promise = condition_named(loss).promise
    if promise is None:
        raise DataError(f"is about {loss}, which no controller can keep to")
    return promise(level, measure)


def _rows(data: Json) -> list[tuple[str, str]]:
    """The figures that text and page show."""
    rows = [("measure", measure_note(data["measure"]) or data["measure"])]
    for one in (data, *data["other_losses"]):
        rows += [(one["loss"], f"observed {one['observed']:.4f}, proved ≤ {one['bound']:g}, level {one['level']:g}")]
    shown, everywhere = data["shown"], data["everywhere"]
    least = "" if data["least_queries"] is None else f" (at least {data['least_queries']:,} can prove anything)"
    rows += [
        ("δ and method", f"{data['delta']:g}, {data['method']}"),
        ("judged queries", f"{data['queries']:,}{least}"),
        ("scorer", data["scorer"]),
        ("threshold", "none: the baseline alone" if data["threshold"] is None else short(data["threshold"], 6)),
        ("thresholds certified", f"{data['certified']:,} of {data['tried']:,}"),
        ("lists of the candidate", f"{shown['share_shown']:.1%}"),
        (
            "gain",
            f"{signed(shown['gain'], 4)} (everywhere {signed(everywhere['gain'], 4)}, at a risk of "
            f"{everywhere['risk']:.4f})",
        ),
    ]
    if data["gain_kept"] is not None:
        rows += [("gain kept", f"{data['gain_kept']:.0%}")]
    if data["blend"] is not None:
        rows += [("blending weight", f"{data['blend']:g}")]
    if data["movement_cap"] is not None:
        rows += [("moves at most", f"{data['movement_cap']} places")]
    if data["drift"] > 1:
        rows += [("drift allowed", f"{data['drift']:g} times")]
    return [*rows, ("set of queries", f"{data['queries_sha256'][:12]}…, used {data['uses']} time(s)")]
