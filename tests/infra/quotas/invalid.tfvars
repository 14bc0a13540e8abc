makes_vpc = true
prefix    = "penstock-analytics"
wanted = {
  vcpus = { service = "emr-serverless", code = "L-D05C8A75", needed = 5000, does = "lets the application have 16 vCPU" }
}
