"""The end of a command by SIGTERM."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, taken like an interrupt from the keyboard so that work is kept."""

    seen = False
