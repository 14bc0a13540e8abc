account_id = "111111111111"
region     = "eu-central-1"
name       = "penstock-client-shell"
host = {
  image_parameter = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
  instance_type   = "t3.small"
  packages_bucket = "acme-packages-111111111111"
  volume_gib      = 20
}
network              = { vpc_id = "vpc-0123456789abcdef0", subnet_ids = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"] }
permissions_boundary = "arn:aws:iam::111111111111:policy/company/boundary"
