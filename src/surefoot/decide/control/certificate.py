"""The certificate: what a controller proves, in plain data, in one honest sentence, as text and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Self

from surefoot.data.hashes import check_seal
from surefoot.decide.control.certificate_data import SCHEMA, CertificateData
from surefoot.errors import DataError, listed, visible
from surefoot.report.escapes import csv_text
from surefoot.report.html import render_page
from surefoot.report.line_chart import Line, line_chart
from surefoot.report.measure_names import measure_note, measure_title
from surefoot.report.numbers import fixed, short, signed
from surefoot.report.result import PlainResult
from surefoot.report.schema import schema_of
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
        """The certificate whose plain data this is, if it is as it was written."""
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise DataError(f"is not {cls.called}; expected JSON with the schema {SCHEMA!r}")
        check_seal(data, "the certificate")
        absent = [name for name in certificate_schema()["$defs"]["CertificateData"]["required"] if name not in data]
        if absent:
            raise DataError(f"is not whole, as {cls.called}: it lacks {listed(absent)}")
        return super().from_dict(data)

    def __getitem__(self, name: str) -> Any:
        """A field."""
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        """The fields' names."""
        return iter(self._data)

    def __len__(self) -> int:
        """How many fields there are."""
        return len(self._data)

    def __repr__(self) -> str:
        """The sentence."""
        return f"<Certificate: {self._data['sentence']}>"

    def to_text(self) -> str:
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
        names = [self._data["loss"], *(held["loss"] for held in self._data["also"])]
        lines = [
            [name, level, point["gain"], point["gain_kept"], point["share_shown"]]
            for point in points
            for name, level in zip(names, point["level"], strict=True)
        ]
        return csv_text(header, lines)

    def page(self) -> str:
        """One page: the sentence, the curve, the figures, what is assumed."""
        data = self._data
        points = data["curve"]
        drawing = None
        if points:
            levels = [point["level"][0] for point in points]
            kept = [100 * point["gain_kept"] if point["gain_kept"] is not None else point["gain"] for point in points]
            named = all(point["gain_kept"] is not None for point in points)
            y_label = "% of the gain kept" if named else "gain"
            drawing = line_chart(
                levels, [Line(y_label, kept)], label="Level against gain kept", from_zero=True,
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


def certificate_schema(*, strict: bool = False) -> Json:
    """The JSON schema of a certificate."""
    described = "What a controller proves of the lists that it shows. Absent values are null."
    return schema_of("surefoot certificate", described, (CertificateData,), strict=strict)


def sentence(data: Mapping[str, Any]) -> str:
    """All of it as one honest sentence."""
    base, measure = data["baseline"], measure_title(data["measure"])
    if data["threshold"] is None:
        return f"Nothing but {base} is shown, so nothing can be lost: {data['reason']}."
    held = [{"loss": data["loss"], "level": data["level"]}, *data["also"]]
    losses = " and ".join(_loss_words(one, measure) for one in held)
    of = {
        "plain": f"traffic like the {data['n']:,} judged queries",
        "drawn": f"the traffic that the {data['n']:,} judged queries were drawn from",
        "strata": f"traffic with the shares given for its strata, judged on {data['n']:,} queries",
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
        f"Shown where its gate score is at least {short(data['threshold'])}, {data['candidate']} {losses} against "
        f"{base} over {of}{drift}, {sure}; of the judged queries {shown['share_shown']:.0%} got its list, and over all "
        f"of them it lost {shown['risk']:.4f} and gained {fixed(shown['gain'], 4)} on balance{kept}."
    )


def _loss_words(held: Mapping[str, Any], measure: str) -> str:
    if held["loss"] == "risk":
        return f"loses on average at most {held['level']:g} of {measure} a query"
    return f"makes at most {100 * held['level']:g} % of queries lose over a fifth of their {measure}"


def _rows(data: Json) -> list[tuple[str, str]]:
    """The figures that text and page show."""
    held = [data, *data["also"]]
    rows = [("measure", measure_note(data["measure"]) or data["measure"])]
    for one in held:
        rows += [(one["loss"], f"observed {one['observed']:.4f}, proved ≤ {one['bound']:g}, level {one['level']:g}")]
    shown, whole = data["shown"], data["whole"]
    least = "" if data["least_n"] is None else f" (at least {data['least_n']:,} can prove anything)"
    rows += [
        ("δ and method", f"{data['delta']:g}, {data['method']}"),
        ("judged queries", f"{data['n']:,}{least}"),
        ("gate", data["gate"]),
        ("threshold", "none: the baseline alone" if data["threshold"] is None else short(data["threshold"], 6)),
        ("thresholds certified", f"{data['certified']:,} of {data['tried']:,}"),
        ("lists of the candidate", f"{shown['share_shown']:.1%}"),
        (
            "gain",
            f"{signed(shown['gain'], 4)} (everywhere {signed(whole['gain'], 4)}, at a risk of {whole['risk']:.4f})",
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
