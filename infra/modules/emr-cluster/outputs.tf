output "cluster" {
  description = "The cluster: its id, ARN and name."
  value = {
    id   = aws_emr_cluster.this.id
    arn  = aws_emr_cluster.this.arn
    name = local.name
  }
}

output "logs_bucket" {
  description = "The bucket with the logs, each step's in CLUSTER/steps/STEP/."
  value       = local.logs_bucket
}

output "role_arn" {
  description = "The role of the instances, with which every step runs."
  value       = local.role_arn

  # Lake Formation grants nothing to a role that is not there.
  depends_on = [aws_iam_role.instance]
}

output "security_group_id" {
  description = "The security group of the nodes."
  value       = aws_security_group.node.id
}

output "submit_commands" {
  description = "The command that adds a step for each run, for a shell."
  value = {
    for name, run in var.runs : name => templatefile("${path.module}/submit.tftpl", {
      cluster_id = aws_emr_cluster.this.id
      name       = name
      region     = var.region
      words      = local.words[name]
    })
  }

  precondition {
    condition     = length(local.long_runs) == 0
    error_message = "The steps of ${join(", ", local.long_runs)} have more than ${local.most_characters} characters, which is the most that EMR takes of a step; give their jobs fewer tables, divided by several jobs, or run them on EMR Serverless."
  }
}
