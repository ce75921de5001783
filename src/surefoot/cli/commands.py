"""The commands, gathered, each loaded where it is called; and their short help: `--help-all` shows all options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from functools import cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from surefoot import __version__
from surefoot.cli.option import option
from surefoot.data.reading.limits import set_max_input
from surefoot.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

TYPED = "surefoot.typed"  # a command as it was typed, in its context
_ALL = "surefoot.help_all"  # whether all options are shown, in a context
_END = "More options: --help-all. Every command: --force, --quiet, --seed."

# A command's page of the documentation, and what `--help` shows of it, in this order; the rest is under `--help-all`.
_SCREENS = {
    "surefoot": ("index", "--version"),
    "evaluate": ("evaluate", "--baseline --measure --alpha --scores --segments --traffic --texts --per-query --why "
        "--all --tests --html --json --csv --latex --figures"),
    "explain": ("learn", "--baseline --pairs --html"),
    "stability": ("near-ties", ""),
    "noise": ("near-ties", "--measure --sizes --html --json --csv"),
    "subsets": ("near-ties", "--measure --sizes --html --json --csv"),
    "time": ("near-ties", "--dates --measure --size --html --json --csv"),
    "measures": ("near-ties", "--measure --html --json --csv"),
    "gate": ("decide", "--baseline --candidate --measure --policy --risk --gain --share-hurt --u-risk --delta "
        "--segments --segment --sample --record --preview --budget --sampled-from --html --json --junit --markdown"),
    "judge": ("judges", ""),
    "next": ("decide", "--baseline --measure --draws --to-prove --uniform --traffic --qrels --record --output --csv"),
    "agreement": ("judges", "--baseline --candidate --measure --risk --html --json"),
    "guard": ("guard", "--fit-scorer --calibrate --baseline --risk --share-hurt --delta --sample --record --output "
        "--html"),
    "history": ("history", "--html --json --csv"),
    "train": ("learn", "--valid --baseline --objective --alpha --measure --trees --models --set --traffic --engine "
        "--output --html"),
    "rank": ("learn", "--baseline --output --html --qrels --shown --why"),
    "sweep": ("trade-offs", "--baseline --objective --alpha --seeds --trees --set --preset --traffic --workers "
        "--output --html"),
    "select": ("trade-offs", "--keep-gain --max-risk --less-risk --output"),
    "export": ("deploy", "--to --missing --features --output"),
    "serve": ("personalize", "--port --host --allow-updates"),
    "personalize": ("personalize", "--layout --unit --clock --split --sample --preset --output --save --html"),
    "fetch": ("fetch", "--service --url --queries --body --user-env --depth --output"),
    "convert": ("pipelines", "--to --texts --unrated --depth --output"),
    "check": ("builds", "--new-policy --json"),
    "demo": ("index", "--output --queries"),
    "clicks": ("personalize", "--output --users --layout"),
    "judges": ("judges", "--output --queries"),
}  # fmt: skip


class HelpfulCommand(TyperCommand):
    """A command whose help is short; with nothing in it that only a programmer needs, such as `<bool>`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep what was typed, for commands that propose it again."""
        program = ctx.find_root().command_path  # may be `python -m surefoot`
        ctx.meta[TYPED] = ["surefoot", *ctx.command_path.removeprefix(program).split(), *args]
        _refuse_empty(args)
        return super().parse_args(ctx, _with_allowed_input(args))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of a copy that is made for the screen."""
        super(HelpfulCommand, _screen(self, ctx)).format_help(ctx, formatter)


class HelpfulGroup(TyperGroup):
    """The same for a command that has others below it."""

    def listed(self, ctx: Any, name: str) -> Any:
        """What the list of commands shows of one."""
        return self.get_command(ctx, name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of a copy that is made for the screen."""
        screen = _screen(self, ctx)
        screen.get_command = self.listed
        super(HelpfulGroup, screen).format_help(ctx, formatter)


def _refuse_empty(args: list[str]) -> None:
    """A variable that a build has not set is no value: what it stands for must not be left out in silence."""
    for before, text in zip(["", *args], args, strict=False):
        name, equals, value = text.partition("=")
        if not text and not before.startswith("-"):
            raise ArgumentError("a file name is empty; give the name of a file")
        if not text or (name.startswith("--") and equals and not value):
            raise ArgumentError(f"{name or before} is empty; give it a value")


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


def helpful_group(
    name: str, about: str, *, cls: type[HelpfulGroup] = HelpfulGroup, invoke_without_command: bool = False,
    add_completion: bool = False,
) -> typer.Typer:  # fmt: skip
    """A command that has others below it; where none of them is named, it shows its help, or runs by itself."""
    return typer.Typer(
        name=name,
        cls=cls,
        no_args_is_help=not invoke_without_command,
        invoke_without_command=invoke_without_command,
        add_completion=add_completion,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        help=about,
    )


def show_all(context: typer.Context, requested: bool) -> None:
    """Print the help with all options, if that is requested."""
    if requested:
        context.meta[_ALL] = True
        typer.echo(context.get_help())
        raise typer.Exit


def _screen(command: Any, ctx: Any) -> Any:
    """A copy of a command, with its options as the screen shows them, and where to read more."""
    screen, everything = copy(command), _ALL in ctx.meta
    page, names = _SCREENS.get(command.name or "surefoot", ("index", ""))
    shown = names.split()
    own = [option for option in command.get_params(ctx) if not getattr(option, "hidden", False)]
    arguments = [option for option in own if option.param_type_name == "argument"]
    options = {option.opts[-1]: option for option in own if option.param_type_name != "argument"}
    order = [*shown, *(name for name in options if name not in shown)] if everything else shown
    screen.params = [_on_screen(option) for option in (*arguments, *(options[name] for name in order))]
    screen.get_params = lambda ctx: screen.params  # --help is among them
    screen.collect_usage_pieces = lambda ctx: _usage(screen.params, hasattr(command, "commands"))
    screen.help = f"{(command.help or '').rstrip()}\n\n**More:** {_page(page)}"
    screen.epilog = None if everything or not options.keys() - {"--help", "--help-all"} else _END
    return screen


def _usage(options: Iterable[Any], has_commands: bool) -> list[str]:
    """What follows the name of a command: its arguments, and the options that it cannot do without."""
    arguments = [option.metavar for option in options if option.param_type_name == "argument"]
    required = [f"{option.opts[0]} {option.metavar}" for option in options if getattr(option, "is_required", False)]
    return [*arguments, *required, "[OPTIONS]", *["COMMAND"] * has_commands]


def _on_screen(option: Any) -> Any:
    """A copy of an option or argument as the screen shows it."""
    shown_option = copy(option)
    if hasattr(shown_option, "min"):
        shown_option.min = shown_option.max = None  # a number out of range is refused with the range
    if option.param_type_name == "argument":
        shown_option.rich_help_panel, shown_option.display_type_rich = None, lambda ctx: None
        shown_option.required, shown_option.show_default = False, False
        return shown_option
    shown_option.rich_help_panel = None
    shown_option.is_required, shown_option.required = option.required, False  # the usage line says it
    if getattr(option, "is_flag", False):
        shown_option.display_type_rich = lambda ctx: None
    else:
        shown_option.metavar = _metavar(option)
    shown_option.help, shown_option.show_default = shown_text(option), False
    return shown_option


def shown_text(option: Any) -> str:
    """What the screen says of an option, with its default.

    Where the default is a word of several that are listed in the text, the list is enough if it stands first there.
    """
    default = _default(option)
    return f"{option.help or ''} [default: {default}]" if default else option.help or ""


def _metavar(option: Any) -> str:
    """A word for what an option takes."""
    if option.metavar is not None:
        return str(option.metavar)
    described = getattr(option, "type_descriptor", None)
    kind = str(described.annotation if described is not None else getattr(option.type, "name", ""))
    return "N" if "int" in kind else "X" if "float" in kind else "FILE" if "Path" in kind else "WORD"


def _default(option: Any) -> str:
    """What an option is where it is not given, in words; nothing for a flag that is off."""
    if isinstance(option.show_default, str):
        return option.show_default
    if not option.show_default or option.default is None or option.required or callable(option.default):
        return ""
    if isinstance(option.default, bool):
        return ""  # a flag that is on is named by what turns it off
    return str(getattr(option.default, "value", option.default))


def _page(page: str) -> str:
    """Where the documentation tells more of a command."""
    from importlib.metadata import PackageNotFoundError, metadata

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


COMMANDS = {  # by what people do, each with the first line of its help
    "Compare": {
        "evaluate": "Measure what systems gain and risk against the live one.",
        "explain": "Say why a query got worse: which swaps, by which features.",
        "stability": "Show which measures, and choices by them, are stable.",
    },
    "Decide": {
        "gate": "Decide on a release: ship, stop, or judge more queries.",
        "judge": "Say what to judge next, and what an automatic judge is worth.",
        "guard": "Show a model only where its risk is proved to be low.",
        "history": "Show past releases, and queries that were hurt repeatedly.",
    },
    "Train": {
        "train": "Train a ranker that trades gain against risk.",
        "rank": "Rank with a saved model, a guard or a personal ranker.",
        "sweep": "Train many trade-offs on every fold, and compare them.",
        "select": "Choose a model of a sweep, and say why and how sure that is.",
    },
    "Deploy": {
        "export": "Export a model to a search engine, with what checks it there.",
        "serve": "Answer re-ranking requests over HTTP with a personal ranker.",
        "personalize": "Learn re-rankers from clicks, and choose one that risks little.",
    },
    "Data": {
        "fetch": "Ask a search service all queries, and write a run.",
        "convert": "Convert judgments or a run to another format.",
        "check": "Check policies, judgments, exports, or what is installed.",
        "demo": "Generate runs that harm some queries, and assess them.",
    },
}


class _Loaded(Mapping[str, TyperCommand | TyperGroup]):
    """All commands by name, each made where it is looked up.

    Typer reads the options of a command when it makes it, and for all of them that takes as long as many commands do.
    """

    def __iter__(self) -> Iterator[str]:
        return chain.from_iterable(COMMANDS.values())

    def __len__(self) -> int:
        return sum(map(len, COMMANDS.values()))

    def __getitem__(self, name: str) -> Any:
        if name not in iter(self):
            raise KeyError(name)
        return _command(name)


@cache
def _command(name: str) -> Any:
    """A command, made of its function, or of the group that its module has."""
    command = getattr(import_module(f"surefoot.cli.{name}"), name)
    if isinstance(command, typer.Typer):
        return typer.main.get_command(command)
    from surefoot.cli.shared_options import add_command

    alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    add_command(alone, bar=name != "sweep")(command)  # sweep shows more than a bar
    return typer.main.get_command(alone)


class _Commands(HelpfulGroup):
    """The commands, of which the one that is called is made, and none for their list."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Loaded()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names; Typer's way would make all commands."""
        return [*self.commands]

    def listed(self, ctx: Any, name: str) -> TyperCommand:
        """What the list of commands shows of one."""
        panel = next(panel for panel, lines in COMMANDS.items() if name in lines)
        return TyperCommand(name, help=COMMANDS[panel][name], rich_help_panel=panel)


def application() -> typer.Typer:
    """The command line."""
    about = "Find out whether a new ranking hurts users, and train rankings that do not."
    app = helpful_group("surefoot", about, cls=_Commands, add_completion=True)
    app.callback()(_root)
    return app


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"surefoot {__version__}")
        raise typer.Exit


def _root(
    version: Annotated[bool, option("--version", "Show the version.", callback=_version, is_eager=True)] = False,
    help_all: Annotated[bool, option("--help-all", "Show all options.", callback=show_all, is_eager=True)] = False,
) -> None:
    pass
