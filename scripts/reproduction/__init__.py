"""One module per paper. Each registers its figures and tables with `registry.figure`; `scripts/reproduce.py` runs them.

A figure is a function that draws on the `Page` it is given and returns one line, "what we get", and its numbers:

    @figure("002.1", "A soft barrier", shows="both schemes agree for a long time")
    def soft(page: Page) -> Outcome:
        _, axes = page.subplots(2, 1)
        axes[0].plot(...)
        return "they agree to 0.2 mm over 0.5 s", {"rms_m": 2.4e-4}
"""
