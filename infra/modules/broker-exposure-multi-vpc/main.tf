# MSK makes the connections of consumers itself, so no resource is created here. This module has the
# names and ports that MSK gives the brokers for them.
locals {
  brokers = {
    for number in range(1, var.broker_count + 1) : tostring(number) => {
      host         = "b-${number}.scram.${var.zone_name}"
      port         = 14000 + number
      service_arn  = null
      service_id   = null
      service_name = null
      tls_port     = null
      zone_ids     = var.zone_ids
    }
  }
}
