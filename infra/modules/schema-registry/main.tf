data "aws_partition" "this" {}

resource "aws_glue_registry" "this" {
  registry_name = var.name
  description   = "Schemas of ${var.prefix}"
}
