name            = "consumer-probe"
alarms          = { probe = { description = "Look.", namespace = "Penstock", metric = "Probes", dimensions = {} } }
description     = "Probes"
environment     = { PROBE = "yes" }
package         = "retry"
platform        = local.platform
settings        = { name = "probe-tables", content = "{}" }
statements_json = jsonencode([{ Sid = "Probe", Effect = "Allow", Action = ["s3:GetObject"], Resource = ["arn:aws:s3:::lake/probes/*"] }])
timeout_seconds = 60
ways_out        = ["brokers", "endpoints", "s3"]
