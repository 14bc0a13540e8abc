# The console reads the schema `_FUNCTION-schema`: each of its examples is a test event.
locals {
  registry = "lambda-testevent-schemas"
}

# One registry for each account and region, which the console creates with the first shareable event of any function.
resource "aws_schemas_registry" "this" {
  count = var.create_registry ? 1 : 0

  name = local.registry
}

resource "aws_schemas_schema" "function" {
  for_each = var.functions

  name          = "_${each.key}-schema"
  registry_name = local.registry
  type          = "OpenApi3"
  content = jsonencode({
    openapi = "3.0.0"
    info    = { version = "1.0.0", title = "Event" }
    paths   = {}
    components = {
      schemas  = { Event = { type = "object" } }
      examples = { for name, event in var.events : name => { value = jsondecode(event) } }
    }
  })

  depends_on = [aws_schemas_registry.this]
}
