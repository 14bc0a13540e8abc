names = ["readings"]
