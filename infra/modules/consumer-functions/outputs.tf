output "functions" {
  description = "Each function: its name, its table with the shape of its rows, its dead-letter table, and the event source mapping of each topic."
  value = {
    for name, function in var.functions : name => {
      errors_table = var.platform.store.errors[function.errors].name
      mappings     = module.mapping[name].mappings
      name         = module.function[name].name
      shape        = var.shapes[function.table].settings
      table        = var.platform.store.readings[function.table].name
    }
  }
}

output "security_group_ids" {
  description = "The security group of each function."
  value       = { for name, function in module.function : name => function.security_group_id }
}
