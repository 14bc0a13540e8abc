prefix  = "Penstock"
region  = "Frankfurt"
charges = []
