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
    secret_name             = "AmazonMSK_a"
  }
}
