# The module of a client host, whose image EC2 looks up.
variable "host" {
  type = object({ instance_type = string })
}

module "client_host" {
  source = "../modules/client-host"

  account_id = "930000000001"
  region     = "eu-central-1"
  host       = var.host
  name       = "applied-client-shell"
  network    = { vpc_id = aws_vpc.this.id, subnet_ids = [aws_subnet.this["a"].id] }
}
