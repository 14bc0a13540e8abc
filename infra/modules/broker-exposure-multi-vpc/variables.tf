variable "broker_count" {
  description = "The number of brokers in the cluster."
  type        = number

  validation {
    condition     = contains(range(1, 101), var.broker_count)
    error_message = "broker_count is ${var.broker_count}; give a whole number from 1 to 100, since MSK's own connections have a hundred ports."
  }
}

variable "zone_ids" {
  description = "The ids of the brokers' zones."
  type        = list(string)

  validation {
    condition     = contains([2, 3], length(var.zone_ids))
    error_message = "zone_ids are ${join(", ", var.zone_ids)}; give the 2 or 3 zones that the brokers are in."
  }
}

variable "zone_name" {
  description = "The brokers' host names without b-N."
  type        = string
}
