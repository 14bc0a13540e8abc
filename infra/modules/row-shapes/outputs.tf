output "shapes" {
  description = "The keys of each table, its settings by flag without dashes, and whether it is written in mode upsert."
  value       = local.shapes
}
