# The module of a cluster of EMR on EC2, in a subnet with a gateway to S3.
resource "aws_vpc_endpoint" "nodes" {
  vpc_id          = aws_vpc.this.id
  service_name    = "com.amazonaws.eu-central-1.s3"
  route_table_ids = [aws_vpc.this.main_route_table_id]
}

module "emr_cluster" {
  source = "../modules/emr-cluster"

  prefix     = "applied"
  account_id = "930000000001"
  region     = "eu-central-1"
  artifacts  = { bucket = aws_s3_bucket.lake.bucket, pyfiles = "s3://${aws_s3_bucket.lake.bucket}/penstock.zip" }
  network = {
    vpc_id    = aws_vpc.this.id
    subnet_id = aws_subnet.this["a"].id
    egress = {
      endpoints = { port = 443, security_group_id = aws_security_group.this.id }
      s3        = { port = 443, prefix_list_id = aws_vpc_endpoint.nodes.prefix_list_id }
    }
  }
  parameters_path = "/sales"
  retention       = { force_destroy = true, key_deletion_days = 7, log_days = 30 }
  topic_arn       = aws_sns_topic.emr.arn
}

resource "aws_sns_topic" "emr" {
  name = "applied-alarms"
}
