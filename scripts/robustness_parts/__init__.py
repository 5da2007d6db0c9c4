"""What scripts/robustness.py throws at the engine, a module for each kind of case; tests/robustness uses the same."""
