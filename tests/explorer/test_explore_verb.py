"""`foretrain explore` without its extra says what to install; wrong input is refused before a server starts."""

import subprocess
import sys

from typer.testing import CliRunner

from simulator.cli import app

WITHOUT = "import sys; sys.modules['streamlit'] = None; from simulator.cli import app; app(['explore'])"


def test_without_the_extra_it_says_what_to_install():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip install 'foretrain[explorer]'" in done.stderr
    assert done.stdout == ""


def test_the_help_needs_no_extra():
    done = CliRunner().invoke(app, ["explore", "--help"])
    assert done.exit_code == 0
    assert "127.0.0.1" in done.stdout


def test_what_the_page_is_made_of_needs_no_extra():
    script = "import sys; sys.modules['streamlit'] = None; import simulator.explorer.levers, simulator.explorer.fields"
    subprocess.run([sys.executable, "-c", script], check=True)
