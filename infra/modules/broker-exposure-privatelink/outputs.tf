output "brokers" {
  description = "The address of each broker for consumers, by broker id: host, port (and tls_port for client certificates), zones and endpoint service."
  value = {
    for id in local.broker_ids : id => {
      host         = "b-${id}.${var.cluster.zone_name}"
      port         = local.port
      service_arn  = aws_vpc_endpoint_service.broker[id].arn
      service_id   = aws_vpc_endpoint_service.broker[id].id
      service_name = aws_vpc_endpoint_service.broker[id].service_name
      tls_port     = local.tls_port
      zone_ids     = local.zone_ids
    }
  }

  depends_on = [
    aws_lb_listener.broker,
    aws_lb_target_group_attachment.broker,
    aws_vpc_endpoint_service_allowed_principal.consumer,
    aws_vpc_security_group_egress_rule.exposure,
    aws_vpc_security_group_ingress_rule.brokers,
  ]
}

output "load_balancers" {
  description = "The load balancers and their target groups as CloudWatch names them (a part of the ARN), by broker id, and for client certificates by ID/9094."
  value = {
    for key, listener in local.listeners : key => {
      arn_suffix              = aws_lb.broker[listener.broker_id].arn_suffix
      port                    = listener.port
      target_group_arn_suffix = aws_lb_target_group.broker[key].arn_suffix
    }
  }
}
