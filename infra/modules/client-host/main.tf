# An instance in a private subnet, to run clients on. It is reached by Session Manager: it has neither a key nor an open port.
resource "aws_instance" "this" {
  # checkov:skip=CKV_AWS_126: nobody waits for a shell; metrics by the minute cost more than they tell
  # checkov:skip=CKV_AWS_79: the launch template requires IMDSv2
  # checkov:skip=CKV_AWS_8: its volume is encrypted by the launch template
  subnet_id              = var.network.subnet_ids[0]
  vpc_security_group_ids = [aws_security_group.this.id]
  iam_instance_profile   = aws_iam_instance_profile.this.name
  ebs_optimized          = true

  launch_template {
    id      = aws_launch_template.this.id
    version = "$Latest"
  }

  tags = { Name = var.name }

  # The agent registers the instance as soon as it runs.
  depends_on = [aws_iam_role_policy.session]

  lifecycle {
    # Without this, a new version of the template would replace the instance in the plan after its own.
    replace_triggered_by = [
      aws_launch_template.this.block_device_mappings,
      aws_launch_template.this.image_id,
      aws_launch_template.this.instance_type,
      aws_launch_template.this.metadata_options,
    ]
  }
}

# EC2 looks up the parameter when it starts the instance, so that a newer image is no change of the plan; nor are new tags,
# since the instance names no version.
resource "aws_launch_template" "this" {
  name        = var.name
  description = "The image and the volume of ${var.name}"

  image_id      = "resolve:ssm:${var.host.image_parameter}"
  instance_type = var.host.instance_type

  block_device_mappings {
    device_name = "/dev/xvda"

    ebs {
      delete_on_termination = true
      encrypted             = true
      volume_size           = var.host.volume_gib
      volume_type           = "gp3"
    }
  }

  metadata_options {
    http_endpoint               = "enabled"
    http_put_response_hop_limit = 1
    http_tokens                 = "required"
  }

  lifecycle {
    ignore_changes = [description] # a new one would be a version too
  }
}

# No ingress rule: a session is a connection that the agent opens. Egress comes with what the host may use.
resource "aws_security_group" "this" {
  name        = var.name
  description = "The client host ${var.name}"
  vpc_id      = var.network.vpc_id

  tags = { Name = var.name }
}
