"""One colour for each meaning, in every drawing and table.

The palette is Okabe and Ito's (Color Universal Design, 2008), told apart by every kind of colour vision;
paler and darker tints of a hue are its relatives. Greys are time in which nothing useful happens.
"""

from __future__ import annotations

BLUE, SKY, GREEN = "#0072B2", "#56B4E9", "#009E73"
ORANGE, VERMILLION, YELLOW, PURPLE = "#E69F00", "#D55E00", "#F0E442", "#CC79A7"
PALE_BLUE, PALE_GREEN, PALE_ORANGE = "#A9CDE8", "#7CCDB4", "#F6CF80"
INK, PAPER = "#24292F", "#FFFFFF"
"""Words and the ground they stand on; a page in the dark exchanges them."""
BLACK, WHITE = "#16191D", "#FEFEFE"
"""Words on a colour, which stay what they are."""
SLATE, DARK_GREY, GREY, PALE_GREY, FAINT = "#4A5159", "#6E7781", "#A0A7AE", "#CFD4DA", "#E4E7EB"

PHASE = {
    "forward": BLUE,
    "backward": SKY,
    "input-gradient": SKY,
    "weight-gradient": PALE_GREEN,
    "recompute": PALE_BLUE,
    "optimizer": GREEN,
}
STEP = {
    "compute": BLUE,
    "recompute": PALE_BLUE,
    "tensor": ORANGE,
    "context": PALE_ORANGE,
    "expert": PURPLE,
    "pipeline": YELLOW,
    "bubble": PALE_GREY,
    "data": VERMILLION,
    "optimizer": GREEN,
    "offload": PALE_GREEN,
    "straggler": GREY,
    "stall": DARK_GREY,
    "other": SLATE,
}
MEMORY = {
    "weights": BLUE,
    "gradients": SKY,
    "optimizer": GREEN,
    "activations": ORANGE,
    "logits": YELLOW,
    "buffers": PURPLE,
    "update": PALE_GREEN,
    "overhead": GREY,
}
RUN = {
    "train": BLUE,
    "checkpoint": GREEN,
    "lost": VERMILLION,
    "detect": YELLOW,
    "diagnose": PURPLE,
    "restart": ORANGE,
    "wait": GREY,
    "degraded": PALE_BLUE,
    "planned": PALE_GREEN,
    "other": SLATE,
}
VERDICT = {"fits": GREEN, "tight": ORANGE, "oom": VERMILLION}


def on(colour: str) -> str:
    """Return the ink, dark or light, that reads on `colour` (relative luminance of WCAG 2, linear approximation)."""
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return BLACK if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.30 else WHITE


def tint(colour: str, white: float) -> str:
    """Return `colour` mixed with a share of `white`."""
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(part + (255 - part) * white):02X}" for part in parts)
