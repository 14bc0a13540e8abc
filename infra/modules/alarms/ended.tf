# Rules for runs and steps that failed or were cancelled, and for clusters that ended with errors. A streaming run has no other end.
locals {
  ended = merge(
    {
      for spark in var.spark[*] : "job-ended" => {
        description = "Job runs of Spark that failed or were cancelled"
        pattern = {
          source      = ["aws.emr-serverless"]
          detail-type = ["EMR Serverless Job Run State Change"]
          detail      = { applicationId = [spark.application_id], state = ["FAILED", "CANCELLED"] }
        }
        paths    = { application = "$.detail.applicationId", run = "$.detail.jobRunId", state = "$.detail.state" }
        template = "The Spark job run <run> of the application <application> is <state>. See why with aws emr-serverless get-job-run, fix the cause, and start it again by its submit command."
      }
    },
    {
      for spark in var.spark[*] : "step-ended" => {
        description = "Steps of clusters of EMR that failed, were cancelled or interrupted"
        pattern = {
          source      = ["aws.emr"]
          detail-type = ["EMR Step Status Change"]
          detail      = { clusterId = values(spark.clusters), state = ["FAILED", "CANCELLED", "INTERRUPTED"] }
        }
        paths    = { cluster = "$.detail.clusterId", name = "$.detail.name", state = "$.detail.state", step = "$.detail.stepId" }
        template = "The step <step> (<name>) of the cluster <cluster> is <state>. Read its log on S3 in <cluster>/steps/<step>/, fix the cause, and submit it again by its submit command."
      } if length(spark.clusters) > 0
    },
    {
      for spark in var.spark[*] : "cluster-ended" => {
        description = "Clusters of EMR that ended with errors"
        pattern = {
          source      = ["aws.emr"]
          detail-type = ["EMR Cluster State Change"]
          detail      = { clusterId = values(spark.clusters), state = ["TERMINATED_WITH_ERRORS"] }
        }
        paths    = { cluster = "$.detail.clusterId", name = "$.detail.name", state = "$.detail.state" }
        template = "The cluster <cluster> (<name>) is <state>, and its steps have ended. See why with aws emr describe-cluster, fix the cause, apply for another cluster, and submit its jobs again."
      } if length(spark.clusters) > 0
    },
  )
}

resource "aws_cloudwatch_event_rule" "ended" {
  for_each = local.ended

  name          = "${var.prefix}-${each.key}"
  description   = each.value.description
  event_pattern = jsonencode(each.value.pattern)

  lifecycle {
    precondition {
      condition     = contains(var.topic.publishers, "rules")
      error_message = "The topic lets no rules publish; add \"rules\" to topic.publishers."
    }
  }
}

resource "aws_cloudwatch_event_target" "ended" {
  for_each = local.ended

  arn  = module.topic.arn
  rule = aws_cloudwatch_event_rule.ended[each.key].name

  input_transformer {
    input_paths    = each.value.paths
    input_template = "\"${each.value.template}\""
  }
}
