"""`herded live`: serve the live page, write it as files, or check a hash that it shows."""

import argparse
import webbrowser
from pathlib import Path

from herded.cli.terminal_output import print_lines
from herded.errors import FileError
from herded.live.static_files import write_page
from herded.run.interrupts import defer_interrupt


def live(options: argparse.Namespace) -> int:
    """Check a link, write the page or serve it."""
    if options.check is not None:
        return _check(options)
    if options.out is not None:
        count = write_page(Path(options.out))
        print_lines(
            f"{options.out} written, {count} files: serve it with any web server, such as "
            f"python -m http.server --directory {options.out}"
        )
        return 0
    return _serve(options)


def _check(options: argparse.Namespace) -> int:
    with defer_interrupt():
        from herded.live.scene_links import read_link
        from herded.live.scenes import digest_of, scene_of
    print_lines(digest_of(scene_of(read_link(options.check), options.model)))
    return 0


def _serve(options: argparse.Namespace) -> int:
    with defer_interrupt():
        from herded.live.server import HOST, LiveServer
    try:
        server = LiveServer(options.port)
    except OSError as error:
        raise FileError(
            f"could not listen on {HOST}:{options.port}: {error.strerror or error}: choose "
            "another --port"
        ) from error
    try:
        with server:
            print_lines(server.link, "press Ctrl-C to stop")
            if not options.no_browser:
                webbrowser.open(server.link)
            server.serve_forever()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(": the live page is no longer served") from None
    return 0
