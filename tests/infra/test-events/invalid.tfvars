events    = { EmptyTestEvent = "{" }
functions = ["penstock-producer"]
