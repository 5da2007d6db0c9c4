"""What scripts/robustness.py throws at the engine, a module for each kind of case; the tests beside it use the same."""
