output "brokers" {
  description = "The address of each broker for consumers, by broker id: host, port and zones, without an endpoint service."
  value       = local.brokers
}
