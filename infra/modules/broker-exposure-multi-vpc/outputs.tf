output "brokers" {
  description = "What a consumer dials, by broker number: host, port and zones, and no endpoint service."
  value       = local.brokers
}
