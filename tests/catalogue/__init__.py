"""Bad and odd inputs, each with one outcome."""
