variable "charges" {
  description = "The services whose charges are shown, as AWS/Billing names them."
  type        = set(string)
  default     = ["AWSGlue", "AWSLambda", "AmazonDynamoDB", "AmazonMSK", "AmazonS3", "AmazonVPC", "ElasticMapReduce"]

  validation {
    condition     = length(var.charges) > 0
    error_message = "The charges are empty; name services as AWS/Billing does, such as AmazonMSK."
  }
}

variable "platform" {
  description = "The platform, as either root puts it out."
  type = object({
    prefix = string
    region = string
    brokers = object({
      # In the producer's account; null without a provisioned cluster.
      metrics = optional(object({ broker_count = number, name = string, per_broker = bool }))
      topics  = set(string)
    })
    functions = object({
      # In the producer's account: the access function, and the producer functions.
      access    = optional(string)
      producers = optional(map(object({ dead_letter_queue = string, function = string, schema = string })), {})
      # In a consumer's account: the consumer functions, without the prefix.
      names = optional(set(string), [])
    })
    jobs = optional(object({ named = map(object({})), retries = set(string) }))
    store = optional(object({
      errors   = map(object({ due_index = string, name = string }))
      readings = map(object({ name = string }))
    }), { errors = {}, readings = {} })
  })
}
