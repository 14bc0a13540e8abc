locals {
  # arn:aws:kafka:REGION:ACCOUNT:cluster/NAME/UUID -> .../topic/NAME/UUID
  _topics_arn = replace(var.cluster.arn, ":cluster/", ":topic/")

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
          Resource = [var.cluster.arn]
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
