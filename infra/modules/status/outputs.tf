output "settings" {
  description = "What is counted, as settings of the function and of `penstock status`."
  value       = local.settings
}
