# Each broker has a load balancer and an endpoint service: a Kafka client dials each broker by its
# name, so each name needs a path to that broker only.
locals {
  partition = data.aws_partition.this.partition
  port      = 9096
  tls_port  = contains(var.ports, 9094) ? 9094 : null
  logins    = local.tls_port == null ? "SCRAM logins" : "Logins"

  broker_ids = toset([for number in range(1, var.broker_count + 1) : tostring(number)])

  # A listener for each port of a broker. Those for SCRAM have the number of their broker as key.
  listeners = merge([
    for port in var.ports : {
      for id in local.broker_ids : (port == local.port ? id : "${id}/${port}") => {
        broker_id = id
        name      = "${var.prefix}-${port == local.port ? "b" : "t"}-${id}"
        port      = port
      }
    }
  ]...)

  # Two consumers may share an account, which is admitted once.
  _account_ids = toset(values(var.consumers))
  principals = {
    for pair in setproduct(local.broker_ids, local._account_ids) :
    join("/", pair) => { broker_id = pair[0], account_id = pair[1] }
  }

  # MSK does not document in which zone it places a broker, so each load balancer is in all zones.
  zone_ids = keys(var.subnet_ids)
}

data "aws_partition" "this" {}

# Read during apply if the cluster changes or a broker has no target yet: at plan, MSK would answer
# without the brokers that this apply adds.
data "aws_msk_broker_nodes" "this" {
  cluster_arn = var.cluster.arn

  depends_on = [aws_lb_target_group.broker, var.cluster]
}

resource "aws_lb" "broker" {
  # checkov:skip=CKV_AWS_91: a load balancer logs TLS that it ends itself; this one passes it through
  # checkov:skip=CKV_AWS_150: it holds nothing, and goes with its broker
  for_each = local.broker_ids

  name                             = "${var.prefix}-b-${each.key}"
  load_balancer_type               = "network"
  internal                         = true
  subnets                          = values(var.subnet_ids)
  security_groups                  = [aws_security_group.exposure.id]
  enable_cross_zone_load_balancing = true
  # The endpoint service decides who connects, by principal and acceptance. Source addresses are those of
  # consumers' networks, which are unknown here.
  enforce_security_group_inbound_rules_on_private_link_traffic = "off"
}

resource "aws_lb_listener" "broker" {
  for_each = local.listeners

  load_balancer_arn = aws_lb.broker[each.value.broker_id].arn
  port              = each.value.port
  protocol          = "TCP"

  default_action {
    type             = "forward"
    target_group_arn = aws_lb_target_group.broker[each.key].arn
  }
}

resource "aws_lb_target_group" "broker" {
  for_each = local.listeners

  name        = each.value.name
  port        = each.value.port
  protocol    = "TCP"
  target_type = "ip"
  vpc_id      = var.vpc_id
  # The brokers' security group admits the load balancers, not the consumers.
  preserve_client_ip = "false"

  health_check {
    protocol            = "TCP"
    port                = "traffic-port"
    interval            = 10
    healthy_threshold   = 3
    unhealthy_threshold = 3
  }

  # The cluster of the broker: broker N of another cluster has another address (the attachment, below).
  tags = { Cluster = var.cluster.arn }
}

resource "aws_lb_target_group_attachment" "broker" {
  for_each = local.listeners

  target_group_arn = aws_lb_target_group.broker[each.key].arn
  target_id = one([
    for node in data.aws_msk_broker_nodes.this.node_info_list :
    node.client_vpc_ip_address if node.broker_id == tonumber(each.value.broker_id)
  ])

  lifecycle {
    # A broker keeps its address for life, but the lookup is unknown while the cluster has a pending
    # change, which would replace every target (docs/adr/0027-load-balancer-per-broker.md).
    ignore_changes = [target_id]
    # Another cluster has other brokers; the ARN stays the same through changes in place.
    replace_triggered_by = [aws_lb_target_group.broker[each.key].tags["Cluster"]]
  }
}

# One security group for all load balancers. It has no ingress rule: only PrivateLink connects here.
resource "aws_security_group" "exposure" {
  name        = "${var.prefix}-exposure"
  description = "Load balancers in front of the brokers"
  vpc_id      = var.vpc_id

  tags = { Name = "${var.prefix}-exposure" }
}

resource "aws_vpc_security_group_egress_rule" "exposure" {
  security_group_id            = aws_security_group.exposure.id
  description                  = "${local.logins} to the brokers"
  ip_protocol                  = "tcp"
  from_port                    = min(var.ports...)
  to_port                      = max(var.ports...)
  referenced_security_group_id = var.cluster.security_group_id
}

resource "aws_vpc_security_group_ingress_rule" "brokers" {
  security_group_id            = var.cluster.security_group_id
  description                  = "${local.logins} from the load balancers"
  ip_protocol                  = "tcp"
  from_port                    = min(var.ports...)
  to_port                      = max(var.ports...)
  referenced_security_group_id = aws_security_group.exposure.id
}
