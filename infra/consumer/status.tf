# The dead letters that are open here. A consumer whose programs are clients alone has no table of them.
module "status" {
  source   = "../modules/status"
  for_each = length(module.reading_store.errors) == 0 ? {} : { status = var.status }

  platform = local.platform
  status   = each.value
  tables   = module.reading_store.errors

  permissions_boundary = var.permissions_boundary
}
