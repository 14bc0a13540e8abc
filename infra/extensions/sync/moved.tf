# Until 0.1, the function was a module of the root, whose resources these are. A move of that module as a whole would make
# a cycle with the moves inside lambda-function, which Terraform refuses.
moved {
  from = aws_cloudwatch_log_group.this
  to   = module.function.module.function.aws_cloudwatch_log_group.this
}
moved {
  from = aws_iam_role.this
  to   = module.function.module.function.aws_iam_role.this
}
moved {
  from = aws_iam_role_policy.runtime
  to   = module.function.module.function.aws_iam_role_policy.runtime
}
moved {
  from = aws_iam_role_policy.work
  to   = module.function.module.function.aws_iam_role_policy.work
}
moved {
  from = aws_lambda_function.this
  to   = module.function.module.function.aws_lambda_function.this
}
moved {
  from = aws_security_group.this
  to   = module.function.module.function.aws_security_group.this
}
moved {
  from = aws_vpc_security_group_egress_rule.this
  to   = module.function.module.function.aws_vpc_security_group_egress_rule.this
}
moved {
  from = module.long_policy
  to   = module.function.module.function.module.long_policy
}
