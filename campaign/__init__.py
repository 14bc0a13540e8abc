"""The campaign: mixed faults over the whole platform, by a schedule that a seed makes."""
