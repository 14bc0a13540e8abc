makes_vpc = false
prefix    = "penstock-analytics"
