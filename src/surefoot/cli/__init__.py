"""The command line: thin, one small file per command (`commands.py` lists them).

What is imported here is light: signals are handled before anything slow is loaded.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from surefoot.build_log import harmless_in_builds
from surefoot.data.reading.polars_process import own_messages
from surefoot.errors import SurefootError, SurefootWarning, name_list, visible

_LONGEST = 1000  # letters of a message's line that are shown


def main() -> None:
    """Run the command line; a mistake of the user's ends with its message and exit code 2, never a traceback."""
    warnings.simplefilter("always", SurefootWarning)
    warnings.showwarning = _show_warning
    if outputs := sys.modules.get("surefoot.cli.outputs"):
        outputs.forget_outputs()
    with own_messages(), harmless_in_builds():
        before, sys.stderr = sys.stderr, _Unfailing(sys.stderr)
        try:
            with stopping() as signals:
                try:
                    _run(signals)
                except StoppedError as error:  # still within `stopping`: one more signal does not leave a file behind
                    _leave(error)
        except StoppedError as error:
            _leave(error)
        finally:
            sys.stderr = before


def _leave(stopped: StoppedError) -> NoReturn:
    from surefoot.data.writing.all_or_nothing import remove_unfinished

    remove_unfinished()
    _silence()
    _fail(stopped.code, "interrupted", *_already_written())


def _run(signals: Sequence[int]) -> NoReturn:
    """Run the command; `signals` are those that asked to stop, should there be any."""
    code: Any = 0
    try:
        if sys.stdout is None:
            raise OSError("it is closed; send it to a file")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # not every terminal can show an α
        from surefoot.cli.commands import application

        try:
            code = application()(standalone_mode=False)
        except Exception as error:
            if signals:  # a library such as DuckDB makes an error of its own of what was raised in it
                raise StoppedError(signals[0]) from error
            raise
        finally:
            sys.stdout.flush()  # a full disk shows only here
            gc.freeze()  # Python would search all modules for garbage, for longer than many commands take
        sys.exit(code if isinstance(code, int) else 0)
    except SurefootError as error:
        _fail(2, *str(error).split("\n"), *_already_written())
    except MemoryError as error:
        _fail(2, f"not enough memory ({error or 'none is left'}); use a smaller input", *_already_written())
    except BrokenPipeError:
        _silence()  # the reader of our output (head, less) has gone: nothing to report
        sys.exit(code if isinstance(code, int) else 0)
    except OSError as error:
        _silence()
        what = f"cannot use {error.filename}" if error.filename else "cannot write to standard output"
        _fail(2, f"{what} ({error.strerror or error})", *_already_written())
    except Exception as error:
        _explain_usage(error)
        import traceback

        traceback.print_exc()
        # Never 1: to a build that means "stop", as if something had been decided.
        _fail(2, "this is a bug in surefoot, not your mistake; please report it together with the lines above")


def _already_written() -> list[str]:
    """A line with the outputs that are complete: they stay, and belong to a command that failed."""
    outputs = sys.modules.get("surefoot.cli.outputs")  # not loaded, nothing was written
    written = outputs.written_outputs() if outputs is not None else []
    return [f"  written before that, and complete: {name_list(written)}"] if written else []


def _explain_usage(error: Exception) -> None:
    """Say what Typer found wrong with the options, if that is what the error is about."""
    import typer

    usage = typer.BadParameter.__base__  # Typer brings its own click, or takes the installed one
    if usage is None or not isinstance(error, usage):
        return
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        getattr(error, "show", lambda: None)()
        sys.exit(2)
    help_ = f"; see {context.command_path} --help" if context is not None else ""
    missing = getattr(error, "param", None) if type(error).__name__ == "MissingParameter" else None
    choices = [] if missing is None or not getattr(missing, "help", None) else [f"  {missing.opts[-1]}: {missing.help}"]
    _fail(2, getattr(error, "format_message", lambda: str(error))().rstrip(".") + help_, *choices)


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    print("surefoot: warning:", visible(str(message)), file=sys.stderr)


def _fail(code: int, *lines: str) -> NoReturn:
    # Names of files and systems may hold anything of any length; none may steer or flood the terminal.
    shortened_lines = (
        line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} … {line[-_LONGEST // 2 :]}" for line in lines
    )
    print("surefoot:", "\n".join(map(visible, shortened_lines)), file=sys.stderr)
    sys.exit(code)


class _Unfailing:
    """The error stream, which may be full or closed: what cannot be told there must not change the exit code."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        if stream is None:  # closed: the next file that is opened must not take its number
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)

    def write(self, text: str) -> int:
        """Write what can be written."""
        with suppress(OSError, ValueError, AttributeError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what waits, if that can be."""
        with suppress(OSError, ValueError, AttributeError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether somebody looks on."""
        try:
            return bool(self._stream.isatty())
        except (OSError, ValueError, AttributeError):
            return False

    def __getattr__(self, name: str) -> Any:
        """Everything else as the stream itself has it."""
        return getattr(self._stream, name)


def _silence() -> None:
    """Discard what is left to print, or Python would report an error when it exits."""
    if sys.stdout is not None:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

_PATIENCE = 0.5  # seconds in which the main thread must have heard of a signal


class StoppedError(BaseException):
    """A signal asked the command to end; not an Exception, so that nothing on the way mistakes it for a failure."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.code = 128 + number


@contextmanager
def stopping() -> Iterator[list[int]]:
    """Turn signals that ask to stop into `StoppedError`, for the time of a command; gives those that came.

    Everything on the way out cleans up as it does after an error. A second signal does not wait for that.

    Python tells its main thread of a signal only between two steps of its own, and one step may be a library's work of
    minutes. So a thread hears of signals too, and ends the command if the main thread has not heard in time.
    """
    if threading.current_thread() is not threading.main_thread():  # only there may handlers be set
        yield []
        return
    received: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)
        if len(received) > 1:
            _end(received[0])
        raise StoppedError(number)

    def unraisable(error: Any) -> None:
        # Where Python cannot raise (while it frees an object) it would print the error and go on.
        if isinstance(error.exc_value, StoppedError):
            _end(received[0])
        usual(error)

    usual = sys.unraisablehook
    # A signal that is ignored (nohup, a job in the background) stays so.
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    mine = [number for number, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)]
    listening, told = os.pipe()
    os.set_blocking(told, False)
    fd_before = signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    listener = threading.Thread(target=_listen, args=(listening, stop, received), daemon=True, name="surefoot-signals")
    listener.start()
    try:
        sys.unraisablehook = unraisable
        for number in mine:
            signal.signal(number, stop)
        yield received
    finally:
        for number in mine:
            signal.signal(number, before[number])
        sys.unraisablehook = usual
        signal.set_wakeup_fd(fd_before)
        os.close(told)  # which ends the listener
        listener.join()
        os.close(listening)


def _listen(listening: int, stop: Any, received: list[int]) -> None:
    """End the command for each signal that the main thread does not take up in time.

    A signal that somebody else handles by now, such as a service that ends its connections first, is left to them.
    """
    heard = 0
    while numbers := os.read(listening, 64):
        for number in numbers:
            if number not in _SIGNALS or signal.getsignal(number) is not stop:
                continue
            heard += 1
            patience = time.monotonic() + _PATIENCE
            while len(received) < heard and time.monotonic() < patience:
                time.sleep(0.02)
            if len(received) < heard:
                print("surefoot: interrupted", file=sys.stderr)
                _end(received[0] if received else number)


def _end(number: int) -> None:
    """End now, without waiting for anything but the removal of unfinished files."""
    files = sys.modules.get("surefoot.data.writing.all_or_nothing")
    if files is not None:
        files.remove_unfinished()
    os._exit(128 + number)
