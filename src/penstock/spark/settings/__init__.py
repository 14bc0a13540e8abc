"""Settings of the jobs, from flags, the contract and the environment."""
