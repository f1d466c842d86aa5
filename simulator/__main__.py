"""``foretrain`` and ``python -m simulator``: Ctrl-C is exit code 130 at any moment, also while modules are loaded."""

import gc
import os

INTERRUPTED = 130


def _leave(*_: object) -> None:
    """End at once: while modules are loaded, and after the result was written, there is nothing to undo."""
    try:
        os.write(2, b"Interrupted\n")
    finally:
        os._exit(INTERRUPTED)


try:
    # Before anything else that takes a while to load.
    import signal

    # Where somebody else decided about Ctrl-C, as nohup and background jobs of a shell do, that stays.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
except KeyboardInterrupt:
    _leave()


def main() -> None:
    """Run the command line and exit."""
    interrupted = False
    try:
        from simulator.cli import main as run

        run()
    except KeyboardInterrupt:
        _leave()
    except SystemExit as done:
        interrupted = done.code == INTERRUPTED
        if not interrupted:
            raise
    if interrupted:
        # Here no traceback holds on to processes that were being started: what they shared is taken back, unwarned.
        gc.collect()
        # The interpreter would wait for what is under way, and may end by the signal itself.
        os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
