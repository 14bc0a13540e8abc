locals {
  # Out of known parts: an ARN ends with a part that MSK makes up, and the name is the cluster's alone.
  _kafka_arn   = "arn:${data.aws_partition.this.partition}:kafka:${var.region}:${var.account_id}"
  _cluster_arn = "${local._kafka_arn}:cluster/${var.cluster.name}/*"
  _topics_arn  = "${local._kafka_arn}:topic/${var.cluster.name}/*"

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          # DescribeCluster reads access lists, AlterCluster makes and deletes them.
          Sid    = "KeepAccessLists"
          Effect = "Allow"
          Action = [
            "kafka-cluster:AlterCluster",
            "kafka-cluster:Connect",
            "kafka-cluster:DescribeCluster",
          ]
          Resource = [local._cluster_arn]
        },
        {
          Sid    = "KeepTopics"
          Effect = "Allow"
          Action = [
            "kafka-cluster:AlterTopic",
            "kafka-cluster:AlterTopicDynamicConfiguration",
            "kafka-cluster:CreateTopic",
            "kafka-cluster:DescribeTopic",
            "kafka-cluster:DescribeTopicDynamicConfiguration",
          ]
          Resource = [for name in sort(keys(var.topics)) : "${local._topics_arn}/${name}"]
        },
      ],
      !var.delete_removed_topics ? [] : [{
        # Of any name: a topic that was taken out of var.topics is not named here any more.
        Sid      = "DeleteRemovedTopics"
        Effect   = "Allow"
        Action   = ["kafka-cluster:DeleteTopic", "kafka-cluster:DescribeTopic"]
        Resource = ["${local._topics_arn}/*"]
      }],
    )
  })
}

data "aws_partition" "this" {}
