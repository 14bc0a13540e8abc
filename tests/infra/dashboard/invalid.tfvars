prefix   = "Penstock"
region   = "Frankfurt"
services = []
