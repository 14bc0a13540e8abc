# The state is a file beside this one. A team keeps it on S3, locked: copy backend_override.tf.example.
terraform {
  backend "local" {}
}
