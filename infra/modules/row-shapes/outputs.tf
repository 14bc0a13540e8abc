output "shapes" {
  description = "The keys of each table, its settings by flag without dashes, those that are fixed for its life, and whether it is written in mode upsert."
  value       = local.shapes
}
