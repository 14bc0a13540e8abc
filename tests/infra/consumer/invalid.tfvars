account_id = "22222222222"
contract = local.contract
clients              = { spark = {} }
network              = { zone_ids = ["euc1-az1", "euc1-az2"] }
prefix               = "Readers"
registry_backups     = ["s3://backups", "s3://backups/a b"]
retention            = { key_deletion_days = 3, log_days = 8, settled_days = 0 }
spark                = { jars = "../../dist" }
permissions_boundary = "boundary"
tags                 = { "aws:owner" = "data" }
