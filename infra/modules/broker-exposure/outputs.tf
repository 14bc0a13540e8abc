output "brokers" {
  description = "What a consumer dials, by broker number: host, port, zones, and the endpoint service (null under multi_vpc)."
  value = {
    for id in local.broker_ids : id => {
      host         = var.exposure == "privatelink" ? "b-${id}.${var.cluster.zone_name}" : "b-${id}.scram.${var.cluster.zone_name}"
      port         = var.exposure == "privatelink" ? local.port : 14000 + tonumber(id)
      service_arn  = try(aws_vpc_endpoint_service.broker[id].arn, null)
      service_id   = try(aws_vpc_endpoint_service.broker[id].id, null)
      service_name = try(aws_vpc_endpoint_service.broker[id].service_name, null)
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
  description = "The parts of ARNs that CloudWatch knows the load balancers by, by broker number; empty under multi_vpc."
  value = {
    for id in local.exposed : id => {
      arn_suffix              = aws_lb.broker[id].arn_suffix
      target_group_arn_suffix = aws_lb_target_group.broker[id].arn_suffix
    }
  }
}
