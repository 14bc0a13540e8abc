# In an account where IAM alone decides.
platform = merge(local.platform, { deploy_role_arn = null, lake = merge(local.platform.lake, { folders = ["tables"] }) })
