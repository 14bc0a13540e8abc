variable "account_id" {
  description = "The account of the host."
  type        = string
}

variable "host" {
  description = "The instance: its type, the public parameter with the id of its image (of the type's architecture), a bucket of the account whose objects it may read, and the size of its volume."
  type = object({
    image_parameter = optional(string, "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64")
    instance_type   = optional(string, "t4g.small")
    packages_bucket = optional(string)
    volume_gib      = optional(number, 8)
  })
  default = {}

  validation {
    condition     = startswith(var.host.image_parameter, "/aws/service/")
    error_message = "host.image_parameter is ${var.host.image_parameter}; give the name of a public parameter, which begins with /aws/service/."
  }
  validation {
    condition     = can(regex("^[a-z0-9-]+[.][a-z0-9-]+$", var.host.instance_type))
    error_message = "host.instance_type is ${var.host.instance_type}; give a type of instance, such as t4g.small."
  }
  validation {
    condition     = var.host.packages_bucket == null || can(regex("^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$", var.host.packages_bucket))
    error_message = "host.packages_bucket is ${coalesce(var.host.packages_bucket, "empty")}; give the name of a bucket, without s3:// and without a folder."
  }
  validation {
    condition     = var.host.volume_gib >= 8 && floor(var.host.volume_gib) == var.host.volume_gib
    error_message = "host.volume_gib is ${var.host.volume_gib}; give whole GiB, at least 8, which is the size of the image."
  }
}

variable "name" {
  description = "The name of the instance, its role and its security group."
  type        = string
}

variable "network" {
  description = "The VPC, and its private subnets, of which the instance is in the first."
  type = object({
    vpc_id     = string
    subnet_ids = list(string)
  })

  validation {
    condition     = length(var.network.subnet_ids) > 0
    error_message = "network.subnet_ids is empty; give at least one subnet."
  }
}

variable "permissions_boundary" {
  description = "The ARN of the permissions boundary of the instance's role; null for none."
  type        = string
  default     = null
}

variable "region" {
  description = "The region of the host."
  type        = string
}
