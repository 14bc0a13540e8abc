name            = "probe"
description     = "Probes"
package         = "retry"
platform        = local.platform
statements_json = "[]"
ways_out        = ["dynamodb"]
