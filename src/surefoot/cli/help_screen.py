"""What `--help` shows: a command's options in panels, each on few lines, and where to read more."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from surefoot.data.reading.limits import set_max_input

if TYPE_CHECKING:
    from collections.abc import Iterable

INPUT, COMPUTE, OUTPUT, MACHINE = "Input", "What to compute", "Output", "Machine"
TYPED = "surefoot.typed"  # a command as it was typed, in its context
_PANEL_OF_OPTION: dict[str, str] = {
    option: panel
    for panel, options in {
        INPUT: (
            "baseline", "candidate", "scores", "stream", "segments", "queries", "documents", "missing", "valid",
            "qrels", "judged", "weights", "strata", "drawn", "sampled_from", "layout", "unit", "clock", "actions",
            "features", "letor", "service", "url", "body", "id_field", "header_env", "user_env", "ca_file",
            "dates", "held_out", "folds", "traffic", "init_model", "automatic", "unjudged", "fill", "run",
        ),
        OUTPUT: (
            "output", "json_file", "csv_file", "html_file", "html", "metrics", "markdown_file", "junit_file", "figures",
            "title", "link", "detail", "format_", "sort", "per_query", "everything", "decisions", "name", "force",
            "quiet", "kinds", "init", "as_json", "features_only", "record", "checkpoint", "checkpoint_every",
            "card", "quepid", "query_set", "save", "save_method", "why", "help", "version",
        ),
        MACHINE: (
            "port", "host", "max_body", "queue", "rate", "timeout", "retries",
            "threads", "seed", "memory", "engine", "backend", "dask", "workers", "install_completion",
            "show_completion",
        ),
    }.items()
    for option in options
}  # fmt: skip
_FILE_OPTIONS = {
    "scores", "segments", "queries", "documents", "valid", "qrels", "judged", "weights", "strata", "drawn", "features",
    "dates", "traffic", "policy", "json_file", "csv_file", "html_file", "html", "metrics", "markdown_file",
    "junit_file", "decisions", "kinds", "why", "record", "output", "checkpoint", "card",
    "run", "automatic", "fill", "quepid", "query_set", "body", "ca_file",
}  # fmt: skip
_DOCS_PAGE = {  # of the documentation
    "evaluate": "evaluate", "train": "learn", "rank": "learn", "explain": "learn", "sweep": "trade-offs",
    "select": "trade-offs", "gate": "decide", "judge-next": "decide", "control": "control", "export": "deploy",
    "convert": "pipelines", "fetch-run": "fetch", "agreement": "judges", "history": "history",
    "personalize": "personalize", "rerank": "personalize", "serve": "personalize", "make-log": "personalize",
    "check": "builds", "doctor": "builds",
    "noise": "near-ties", "subsets": "near-ties", "time": "near-ties", "compare": "near-ties",
    "stability": "near-ties", "demo": "index",
}  # fmt: skip


class HelpfulCommand(TyperCommand):
    """A command whose options stand in panels; with nothing that only a programmer needs, such as `<bool>`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what was typed, for commands that propose it again."""
        program = ctx.find_root().command_path  # may be `python -m surefoot`
        ctx.meta[TYPED] = ["surefoot", *ctx.command_path.removeprefix(program).split(), *args]
        return super().parse_args(ctx, _with_allowed_input(args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of a copy that is made for the screen."""
        super(HelpfulCommand, _screen(self, ctx)).format_help(ctx, formatter)


class HelpfulGroup(TyperGroup):
    """The same for a command that has others below it."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of a copy that is made for the screen."""
        super(HelpfulGroup, _screen(self, ctx)).format_help(ctx, formatter)


def _with_allowed_input(args: list[str]) -> list[str]:
    """The arguments without `--max-input SIZE`, which every command takes, and which holds from here on.

    It is on no screen: the error that it is for names it.
    """
    rest, size = [*args], None
    options = rest[: rest.index("--")] if "--" in rest else rest
    for place in reversed([place for place, text in enumerate(options) if text.partition("=")[0] == "--max-input"]):
        _, equals, given = rest[place].partition("=")
        if not equals:
            given = "".join(rest[place + 1 : place + 2])
            del rest[place + 1 : place + 2]
        size = given if size is None else size  # the last counts
        del rest[place]
    set_max_input(size)
    return rest


def helpful_group(name: str, about: str) -> typer.Typer:
    """A command that has others below it, and shows its help where none of them is named."""
    return typer.Typer(
        name=name,
        cls=HelpfulGroup,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        help=about,
    )


def _screen(command: Any, ctx: Any) -> Any:
    """A copy of a command, with its options as the screen shows them, and where to read more."""
    screen = copy(command)
    own = (option for option in command.get_params(ctx) if not getattr(option, "hidden", False))
    screen.params = _in_order(_on_screen(option) for option in own)
    screen.get_params = lambda ctx: screen.params  # --help is among them
    screen.help = f"{(command.help or '').rstrip()}\n\n**More:** {_page(command.name)}"
    return screen


def _in_order(options: Iterable[Any]) -> list[Any]:
    """The options by panel, within one as the command has them."""
    order = [None, INPUT, COMPUTE, OUTPUT, MACHINE]
    return sorted(options, key=lambda option: order.index(option.rich_help_panel))


def _on_screen(option: Any) -> Any:
    """A copy of an option or argument as the screen shows it."""
    shown_option = copy(option)
    if hasattr(shown_option, "min"):
        shown_option.min = shown_option.max = None  # a number out of range is refused with the range
    if option.param_type_name == "argument":
        shown_option.rich_help_panel, shown_option.display_type_rich = None, lambda ctx: None
        return shown_option
    shown_option.rich_help_panel = _PANEL_OF_OPTION.get(option.name, COMPUTE)
    remarks, default, choices = [], _default(option), _choices(option)
    if getattr(option, "is_flag", False):
        shown_option.display_type_rich = lambda ctx: None
    elif option.metavar is None:
        shown_option.metavar = "WORD" if choices else _metavar(option)
        remarks += ["|".join(choices)] if choices else []
    remarks += [f"default: {default}"] if default else []
    if remarks:
        shown_option.help, shown_option.show_default = f"{option.help or ''} [{'; '.join(remarks)}]".strip(), False
    return shown_option


def _choices(option: Any) -> list[str]:
    """The words of which an option takes one; Typer has kept them in two places over time."""
    described = getattr(option, "type_descriptor", None)
    choices = getattr(option.type, "choices", None) if described is None else described.choices
    return [str(getattr(choice, "value", choice)) for choice in choices or ()]


def _metavar(option: Any) -> str:
    """A word for what an option takes."""
    described = getattr(option, "type_descriptor", None)
    kind = str(described.annotation if described is not None else getattr(option.type, "name", ""))
    return "N" if "int" in kind else "X" if "float" in kind else "FILE" if option.name in _FILE_OPTIONS else "TEXT"


def _default(option: Any) -> str:
    """What an option is where it is not given, in words; nothing for a flag that is off."""
    if isinstance(option.show_default, str):
        return option.show_default
    if not option.show_default or option.default is None or option.required or callable(option.default):
        return ""
    if isinstance(option.default, bool):
        return (option.opts[0] if option.default else option.secondary_opts[0]) if option.secondary_opts else ""
    return str(getattr(option.default, "value", option.default))


def _page(command: str | None) -> str:
    """Where the documentation tells more of a command."""
    from importlib.metadata import PackageNotFoundError, metadata

    page = _DOCS_PAGE.get(command or "", "index")
    try:
        urls = metadata("surefoot").get_all("Project-URL") or []
    except PackageNotFoundError:
        urls = []
    site = next((url.partition(", ")[2] for url in urls if url.startswith("Documentation, ")), None)
    return documentation_page(site, page)


def documentation_page(site: str | None, page: str) -> str:
    """Where a page of the documentation is: on its site, or in the sources while the site has no owner.

    >>> [documentation_page(f"https://{who}.github.io/x/", "gate") for who in ("acme", "OWNER")]
    ['https://acme.github.io/x/gate.html', 'docs/gate.md']
    """
    has_owner = site is not None and "//OWNER." not in site  # `tools/set_owner.py` puts a name there for a release
    return f"{site}{page}.html" if has_owner else f"docs/{page}.md"
