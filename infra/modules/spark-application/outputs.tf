output "application" {
  description = "The application, as infra/modules/spark-jobs takes it: its id, ARN and name, artifacts, log, settings, and the most that its workers may have."
  value       = local.application

  # Callers find the application able to run jobs.
  depends_on = [aws_cloudwatch_log_group.this, aws_s3_object.file, aws_s3_object.upload, aws_vpc_security_group_egress_rule.this]
}

output "artifacts_bucket" {
  description = "The bucket with the artifacts: its name and its ARN."
  value       = { name = module.bucket.name, arn = module.bucket.arn }
}

output "placed_runs" {
  description = "The program and the arguments of each run, with the S3 URLs of their files."
  value       = { for name, run in var.runs : name => { arguments = [for word in run.arguments : lookup(local.urls.files, word, word)], program = local.urls.programs[run.program] } }

  depends_on = [aws_s3_object.file, aws_s3_object.upload]
}

output "places" {
  description = "The S3 URLs of the artifacts: archives, files and programs by name, a hash of the archives, jars (those of EMR's image by path there), and the package's zip."
  value       = local.urls

  depends_on = [aws_s3_object.file, aws_s3_object.upload]
}

output "role_arns" {
  description = "The execution roles, by name."
  value       = module.jobs.role_arns
}

output "schedules" {
  description = "The names of the schedules of runs and of their groups."
  value       = module.jobs.schedules
}

output "security_group_id" {
  description = "The security group of the jobs."
  value       = aws_security_group.this.id
}

output "submit_commands" {
  description = "The submit command of each run, for a shell."
  value       = module.jobs.submit_commands
}
