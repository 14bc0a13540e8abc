# Jobs of an EMR Serverless application: their requests; roles are in iam.tf, sizes in workers.tf, schedules in schedules.tf.
locals {
  # The most that EMR Serverless lets a batch take; by default it cancels a run after 12 hours.
  _batch_minutes = 7 * 24 * 60

  requests = {
    for name, run in var.runs : name => {
      application_id  = var.application.id
      arguments       = [for word in run.arguments : lookup(var.application.files, word, word)]
      configuration   = merge(var.application.configuration, local._worker_settings[name])
      entry_point     = run.program
      log_group       = var.application.log_group
      mode            = run.streaming ? "STREAMING" : "BATCH"
      name            = name
      parameters      = var.application.submission
      region          = var.region
      role_arn        = local.role_arns[run.role]
      timeout_minutes = run.streaming ? 0 : local._batch_minutes
    }
  }
}

# Settings of runs that may change without another submit command.
resource "aws_ssm_parameter" "this" {
  # checkov:skip=CKV2_AWS_34: names and addresses; a secret is named by its ARN
  for_each = merge([
    for role, parameters in var.parameters : { for name, value in parameters : "${role}/${name}" => value }
  ]...)

  name           = "/${var.prefix}/${each.key}"
  type           = "String"
  insecure_value = each.value
}
