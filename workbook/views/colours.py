"""The colours of all pictures: the page's own ink, in a dark theme or a light one, and five."""

INK = "var(--jp-ui-font-color1, #212121)"
PAPER = "var(--jp-layout-color0, #ffffff)"
FAINT = "var(--jp-border-color1, #bdbdbd)"
INK_ON_PAPER = "#212121"
BLUE, ORANGE, GREEN, RED, GREY = "#1e88e5", "#ef6c00", "#388e3c", "#e53935", "#9e9e9e"
"""Each one stands out on white and on dark grey; none of them carries a meaning alone."""
