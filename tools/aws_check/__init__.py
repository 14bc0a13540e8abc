"""Questions to AWS that no document answers, asked by the cheapest calls: `make aws-check`."""
