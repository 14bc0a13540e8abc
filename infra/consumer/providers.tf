provider "aws" {
  region              = var.contract.region
  allowed_account_ids = [var.account_id]

  dynamic "assume_role" {
    for_each = var.deploy_role_arn == null ? [] : [var.deploy_role_arn]

    content {
      role_arn = assume_role.value
    }
  }

  default_tags {
    tags = local.tags
  }
}

# The producer account, through this consumer's hand-over role: it may read its programs' passwords and accept
# this account's endpoints, nothing else.
provider "aws" {
  alias = "producer"

  region              = var.contract.region
  allowed_account_ids = [var.contract.producer_account_id]

  dynamic "assume_role" {
    for_each = var.deploy_role_arn == null ? [] : [var.deploy_role_arn]

    content {
      role_arn = assume_role.value
    }
  }

  assume_role {
    role_arn    = var.contract.hand_over.role_arn
    external_id = var.contract.hand_over.external_id
  }

  default_tags {
    tags = local.tags
  }
}
