# Rules for steps that failed, were cancelled or interrupted, and for a cluster that ended with errors.
locals {
  ended = {
    step-ended = {
      description = "Steps of clusters of EMR that failed, were cancelled or interrupted"
      detail_type = "EMR Step Status Change"
      states      = ["FAILED", "CANCELLED", "INTERRUPTED"]
      paths       = { cluster = "$.detail.clusterId", name = "$.detail.name", state = "$.detail.state", step = "$.detail.stepId" }
      template    = "The step <step> (<name>) of the cluster <cluster> is <state>. Read its log on S3 in <cluster>/steps/<step>/, fix the cause, and submit it again by its submit command."
    }
    cluster-ended = {
      description = "Clusters of EMR that ended with errors"
      detail_type = "EMR Cluster State Change"
      states      = ["TERMINATED_WITH_ERRORS"]
      paths       = { cluster = "$.detail.clusterId", name = "$.detail.name", state = "$.detail.state" }
      template    = "The cluster <cluster> (<name>) is <state>, and its steps have ended. See why with aws emr describe-cluster, fix the cause, apply for another cluster, and submit its jobs again."
    }
  }
}

resource "aws_cloudwatch_event_rule" "ended" {
  for_each = local.ended

  name        = "${var.prefix}-${each.key}"
  description = each.value.description
  event_pattern = jsonencode({
    source      = ["aws.emr"]
    detail-type = [each.value.detail_type]
    detail      = { clusterId = [aws_emr_cluster.this.id], state = each.value.states }
  })
}

resource "aws_cloudwatch_event_target" "ended" {
  for_each = local.ended

  arn  = var.topic_arn
  rule = aws_cloudwatch_event_rule.ended[each.key].name

  input_transformer {
    input_paths    = each.value.paths
    input_template = "\"${each.value.template}\""
  }
}
