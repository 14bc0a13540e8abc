# The dead letters that are open here.
module "status" {
  source = "../modules/status"

  platform = local.platform
  status   = var.status
  tables   = module.reading_store.errors

  permissions_boundary = var.permissions_boundary
}
