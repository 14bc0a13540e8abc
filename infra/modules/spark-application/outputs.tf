output "application" {
  description = "The application: its id, ARN and name."
  value = {
    id   = aws_emrserverless_application.this.id
    arn  = aws_emrserverless_application.this.arn
    name = local.application_name
  }
}

output "artifacts_bucket" {
  description = "The bucket with the artifacts: its name and its ARN."
  value       = { name = module.bucket.name, arn = module.bucket.arn }
}

output "files" {
  description = "The artifacts given by content: the S3 URL of each, by name."
  value       = { for name, key in local.file_keys : name => "s3://${local.bucket_name}/${key}" }

  depends_on = [aws_s3_object.file]
}

output "places" {
  description = "The S3 URLs of the artifacts: archives and programs by name, jars, and the package's zip."
  value       = local.urls

  depends_on = [aws_s3_object.upload]
}

output "role_arns" {
  description = "The execution roles, by name."
  value       = local.role_arns

  depends_on = [aws_iam_role.job, aws_iam_role_policy.runtime, aws_iam_role_policy.work, module.long_policy]
}

output "schedules" {
  description = "The names of the schedules of runs and of their groups."
  value       = values(module.schedule)[*].name
}

output "security_group_id" {
  description = "The security group of the jobs."
  value       = aws_security_group.this.id
}

output "submit_commands" {
  description = "The submit command of each run, for a shell."
  value       = local.submit_commands

  depends_on = [
    aws_cloudwatch_log_group.this,
    aws_iam_role_policy.runtime,
    aws_iam_role_policy.work,
    aws_s3_object.file,
    aws_s3_object.upload,
    aws_ssm_parameter.this,
    aws_vpc_security_group_egress_rule.this,
    module.long_policy,
  ]
}
