create_registry = false
events          = { EmptyTestEvent = "{}", AddTemperatureEvent = "{\"temperature\": 30}", List = "[{\"a\": 1}]" }
functions       = ["penstock-orders", "penstock-producer"]
