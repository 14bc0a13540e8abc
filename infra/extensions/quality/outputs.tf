output "lake_principals" {
  description = "What its role needs of Lake Formation, for the input principals of infra/extensions/lake_formation."
  value = {
    "function/quality" = { arn = module.function.role_arn, database = ["DESCRIBE"], tables = ["DESCRIBE", "SELECT"] }
  }
}

output "name" {
  description = "The name of the function, whose invocation checks the tables at once."
  value       = module.function.name
}

output "rules" {
  description = "By table DATABASE.TABLE: the limits of its rules, which `penstock schema plan` reads."
  value       = local.flags
}
