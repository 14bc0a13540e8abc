account_id = "11111111111"
name       = "pen/stock"
prefix     = "Penstock"
region     = "Frankfurt"
consumers = {
  Analytics = {
    account_id              = "22222222222"
    external_id             = "a b"
    hand_over_principal_arn = "arn:aws:iam::22222222222:role/*"
    reader_principal_arns   = []
    secret_arn              = "arn:aws:secretsmanager:eu-central-1:111111111111:secret:AmazonMSK_a-a1b2c3"
    secret_key_arn          = "arn:aws:kms:eu-central-1:111111111111:key/11111111-2222-3333-4444-555555555555"
  }
}
