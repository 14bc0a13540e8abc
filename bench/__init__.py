"""The benchmark ladder: `python -m bench`. Figures are ratios measured side by side in one run."""
