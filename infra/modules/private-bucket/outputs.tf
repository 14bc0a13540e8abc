output "arn" {
  description = "The bucket's ARN, known at plan."
  value       = local.arn
}

output "name" {
  description = "The bucket's name, available once it is encrypted, versioned and private."
  value       = aws_s3_bucket.this.bucket

  depends_on = [
    aws_s3_bucket_ownership_controls.this,
    aws_s3_bucket_policy.this,
    aws_s3_bucket_public_access_block.this,
    aws_s3_bucket_server_side_encryption_configuration.this,
    aws_s3_bucket_versioning.this,
  ]
}
