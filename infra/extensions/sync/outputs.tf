output "lake_principals" {
  description = "What its role needs of Lake Formation, for the input principals of infra/extensions/lake_formation."
  value = {
    "function/sync" = { arn = module.function.role_arn, database = ["DESCRIBE"], tables = ["ALTER", "DESCRIBE"] }
  }
}

output "name" {
  description = "The name of the function, whose invocation grows the columns at once."
  value       = module.function.name
}
