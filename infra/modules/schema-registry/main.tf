data "aws_partition" "this" {}

resource "aws_glue_registry" "this" {
  registry_name = var.name
  description   = "Schemas of ${var.prefix}"

  lifecycle {
    # Without its versions no record can be read (destroyable_override.tf.example).
    prevent_destroy = true

    # Another name is another registry: this one would be deleted with every schema version, and existing
    # records could not be read any more.
    ignore_changes = [registry_name]

    postcondition {
      condition     = self.registry_name == var.name
      error_message = "The registry is called ${self.registry_name} and name is ${var.name}; give it its own name again, since another one would delete all its schema versions for good."
    }
  }
}
