# The state is a file in this folder. For a team, keep it on S3 with a lock: copy backend_override.tf.example.
terraform {
  backend "local" {}
}
