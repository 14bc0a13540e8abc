locals {
  # Built from known parts: an ARN ends with a part that MSK generates, and the name is unique to the cluster.
  _kafka_arn   = "arn:${data.aws_partition.this.partition}:kafka:${var.region}:${var.account_id}"
  _cluster_arn = "${local._kafka_arn}:cluster/${var.cluster.name}/*"
  _topics_arn  = "${local._kafka_arn}:topic/${var.cluster.name}/*/*"

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = concat(
      [
        {
          # DescribeCluster reads access lists, AlterCluster creates and deletes them.
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
          # All topics of the cluster, since the function manages them all. Brokers take up to a minute to see
          # a changed policy, so a new topic, for which the function is invoked at once, must not change it.
          # By name, 75 topics would also fill the 10,240 characters of a role's policies.
          Sid    = "KeepTopics"
          Effect = "Allow"
          Action = [
            "kafka-cluster:AlterTopic",
            "kafka-cluster:AlterTopicDynamicConfiguration",
            "kafka-cluster:CreateTopic",
            "kafka-cluster:DescribeTopic",
            "kafka-cluster:DescribeTopicDynamicConfiguration",
          ]
          Resource = [local._topics_arn]
        },
      ],
      !var.delete_removed_topics ? [] : [{
        Sid      = "DeleteRemovedTopics"
        Effect   = "Allow"
        Action   = ["kafka-cluster:DeleteTopic", "kafka-cluster:DescribeTopic"]
        Resource = [local._topics_arn]
      }],
    )
  })
}

data "aws_partition" "this" {}
