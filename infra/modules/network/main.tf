# Private subnets without an internet gateway or NAT. Workloads reach only the AWS services that have
# an endpoint (endpoints.tf).
locals {
  _partition = data.aws_partition.this.partition
  make       = var.existing == null

  vpc_id          = local.make ? one(aws_vpc.this[*].id) : var.existing.vpc_id
  route_table_ids = local.make ? aws_route_table.private[*].id : var.existing.route_table_ids
  subnet_ids = {
    for zone_id in var.zone_ids :
    zone_id => local.make ? aws_subnet.private[zone_id].id : var.existing.subnet_ids[zone_id]
  }

  # The first one first.
  existing_ranges = distinct(flatten([
    for vpc in data.aws_vpc.existing : [vpc.cidr_block, [for range in vpc.cidr_block_associations : range.cidr_block if range.state == "associated"]]
  ]))
  peered_ranges = values(data.aws_subnet.peered)[*].cidr_block
  # A subnet is in a range if it is equal to it once it is cut to its prefix.
  _holding = [
    for range in local.existing_ranges : range
    if alltrue([for subnet in local.peered_ranges : cidrsubnet("${split("/", subnet)[0]}/${split("/", range)[1]}", 0, 0) == range])
  ]
  cidr = local.make ? var.cidr : try(local._holding[0], null)
}

data "aws_partition" "this" {}

# An unknown zone would stop an apply half-way (docs/adr/0032-refuse-in-the-plan.md).
data "aws_availability_zones" "this" {
  # checkov:skip=CKV_AWS_394: nothing is made of its answer, which only judges zone_ids
  count = local.make ? 1 : 0

  state = "available"

  lifecycle {
    postcondition {
      condition     = length(setsubtract(var.zone_ids, self.zone_ids)) == 0
      error_message = "zone_ids has ${join(", ", setsubtract(var.zone_ids, self.zone_ids))}, not among the zones of ${var.region} that this account can use; choose from ${join(", ", self.zone_ids)}."
    }
  }
}

data "aws_vpc" "existing" {
  count = local.make ? 0 : 1

  id = var.existing.vpc_id

  lifecycle {
    postcondition {
      condition     = self.enable_dns_hostnames && self.enable_dns_support
      error_message = "The VPC ${self.id} has DNS hostnames ${self.enable_dns_hostnames ? "on" : "off"} and DNS resolution ${self.enable_dns_support ? "on" : "off"}, and private names of endpoints need both; turn on enableDnsSupport, then enableDnsHostnames, with `aws ec2 modify-vpc-attribute`."
    }
  }
}

data "aws_subnet" "peered" {
  for_each = toset(var.peered && !local.make ? var.zone_ids : [])

  id = var.existing.subnet_ids[each.value]
}

resource "aws_vpc" "this" {
  count = local.make ? 1 : 0

  cidr_block           = var.cidr
  enable_dns_hostnames = true
  enable_dns_support   = true

  tags = { Name = var.prefix }

  lifecycle {
    # A VPC that is replaced is deleted before what is in it has left, which EC2 refuses when all endpoints are gone.
    ignore_changes = [cidr_block]

    postcondition {
      condition     = self.cidr_block == var.cidr
      error_message = "cidr is ${var.cidr}, and the VPC ${self.id} has ${self.cidr_block}, which it keeps; give that, or destroy the root first, or make another one with another prefix."
    }
  }
}

resource "aws_subnet" "private" {
  for_each = local.make ? toset(var.zone_ids) : toset([])

  vpc_id               = local.vpc_id
  availability_zone_id = each.value
  # By position: a quarter of the range each, of which at most three are used.
  cidr_block = cidrsubnet(var.cidr, 2, index(var.zone_ids, each.value))

  tags = { Name = "${var.prefix}-${each.value}" }

  lifecycle {
    # A zone that has another position later keeps its subnet.
    ignore_changes = [cidr_block]

    # A subnet that goes is deleted after endpoints, functions and jobs have left it.
    create_before_destroy = true
  }
}

# One table for all zones, since no zone has a gateway of its own.
resource "aws_route_table" "private" {
  count = local.make ? 1 : 0

  vpc_id = local.vpc_id

  tags = { Name = "${var.prefix}-private" }
}

resource "aws_route_table_association" "private" {
  for_each = aws_subnet.private

  route_table_id = aws_route_table.private[0].id
  subnet_id      = each.value.id

  lifecycle {
    create_before_destroy = true # it leads to S3 as long as its subnet is used
  }
}

# Without rules: a resource without a named group can neither call nor be called.
resource "aws_default_security_group" "this" {
  count = local.make ? 1 : 0

  vpc_id = aws_vpc.this[0].id

  tags = { Name = "${var.prefix}-default" }
}
