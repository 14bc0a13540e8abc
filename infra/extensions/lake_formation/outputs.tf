output "analysts" {
  description = "The analysts, by name: the role that each assumes, and the work group that it asks."
  value = {
    for name, role in aws_iam_role.analyst : name => { role_arn = role.arn, workgroup = aws_athena_workgroup.analyst[name].name }
  }

  depends_on = [
    aws_iam_role_policy.analyst,
    aws_lakeformation_permissions.columns,
    aws_lakeformation_permissions.database,
    aws_lakeformation_permissions.rows,
    aws_lakeformation_permissions.tables,
  ]
}

output "location_arns" {
  description = "The registered locations of the tables, once every role has its grants."
  value       = sort(values(aws_lakeformation_resource.tables)[*].arn)

  depends_on = [
    aws_lakeformation_permissions.database,
    aws_lakeformation_permissions.location,
    aws_lakeformation_permissions.tables,
  ]
}
