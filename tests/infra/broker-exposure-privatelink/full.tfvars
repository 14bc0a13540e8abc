prefix              = "penstock-producer"
acceptance_required = false
broker_count        = 6
cluster = {
  arn               = terraform_data.later.output
  security_group_id = terraform_data.later.output
  zone_name         = terraform_data.later.output
}
# Two consumers in one account, which is let in once.
consumers = { analytics = "222222222222", reports = "222222222222", search = "333333333333" }
ports     = [9096, 9094]
subnet_ids = {
  euc1-az1 = terraform_data.later.output
  euc1-az2 = terraform_data.later.output
  euc1-az3 = terraform_data.later.output
}
vpc_id = terraform_data.later.output
