# Policies that are too long for a role's inline policies: their statements in as few managed policies as hold them.
locals {
  most_characters = 6144 # of a managed policy, in which IAM counts no white space
  most_policies   = 10   # of a role, unless its account has a higher quota

  # A Sid may come once in a policy.
  _statements = flatten([
    for name, policy in var.policies : [
      for statement in jsondecode(policy).Statement : merge(statement, { Resource = flatten([statement.Resource]) }, length(var.policies) == 1 ? {} : {
        Sid                                                                       = "${statement.Sid}Of${replace(title(replace(name, "/[^A-Za-z0-9]/", " ")), " ", "")}"
      })
    ]
  ])
  # A statement without its resources, which comes again in each policy that has some of these.
  _frames = [for statement in local._statements : length(jsonencode(merge(statement, { Resource = [] }))) + 1]
  _parts = flatten([
    for index, statement in local._statements : [
      for place, resources in chunklist(statement.Resource, max(1, floor(400 / (3 + max(concat([0], [for resource in statement.Resource : length(resource)])...))))) : {
        characters = length(jsonencode(resources)) + (place == 0 ? local._frames[index] : 0)
        resources  = resources
        statement  = index
      }
    ]
  ])
  # A part is in the policy in which it begins, if all were one text that is cut so early that the longest part still
  # fits, and the frame of the statement that goes on from the policy before.
  _cut    = max(1, local.most_characters - 64 - max(local._parts[*].characters...) - max(local._frames...))
  _policy = [for index in range(length(local._parts)) : 1 + floor(sum(concat([0], slice(local._parts[*].characters, 0, index))) / local._cut)]

  documents = {
    for number in distinct(local._policy) : tostring(number) => jsonencode({
      Version = "2012-10-17"
      Statement = [
        for index, statement in local._statements : merge(statement, {
          Resource = flatten([for place, part in local._parts : part.resources if part.statement == index && local._policy[place] == number])
        }) if anytrue([for place, part in local._parts : part.statement == index && local._policy[place] == number])
      ]
    })
  }
}

resource "aws_iam_policy" "this" {
  for_each = local.documents

  name        = "${var.role_name}-${each.key}"
  description = "Part ${each.key} of what ${var.role_name} may do"
  policy      = each.value

  lifecycle {
    precondition {
      condition     = length(each.value) <= local.most_characters
      error_message = "Part ${each.key} of the policy of ${var.role_name} has ${length(each.value)} characters, and a managed policy takes ${local.most_characters}; shorten the conditions of its statements, which cannot be split."
    }
  }
}

resource "aws_iam_role_policy_attachment" "this" {
  for_each = local.documents

  role       = var.role_name
  policy_arn = aws_iam_policy.this[each.key].arn
}
