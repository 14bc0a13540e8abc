# The sizes of each run: Spark's settings, and what all runs may take of the application.
locals {
  # EMR gives a worker the memory of Spark and a tenth more (at least 384 MiB), rounded up to a size that it has.
  _worker_memory = {
    for name, run in var.runs : name => {
      for kind, worker in { driver = run.workers.driver, executor = run.workers.executor } : kind => max(
        2 * worker.cores,
        (worker.cores < 8 ? 1 : worker.cores / 2) * ceil(max(worker.memory_gib * 1.1, worker.memory_gib + 0.375) / (worker.cores < 8 ? 1 : worker.cores / 2)),
      )
    }
  }
  _most = {
    for name, run in var.runs : name => {
      cpu    = run.workers.driver.cores + run.workers.max_executors * run.workers.executor.cores
      memory = local._worker_memory[name].driver + run.workers.max_executors * local._worker_memory[name].executor
    }
  }

  # A streaming run never ends, and runs of schedules may meet: another batch run must fit beside all of them.
  needed = {
    for kind in ["cpu", "memory"] : kind => sum(concat(
      [max(concat([0], [for name, run in var.runs : local._most[name][kind] if !run.streaming && run.schedule == null])...)],
      [for name, run in var.runs : local._most[name][kind] if run.streaming || run.schedule != null],
    ))
  }
  maximum = { for kind, text in var.application.maximum : kind => tonumber(split(" ", text)[0]) }

  _worker_settings = {
    for name, run in var.runs : name => merge({
      # The most tasks of a batch for which jobs bound them. By default it is the cores of the executors that run, for
      # which Spark would ask for no others.
      "spark.default.parallelism"                         = tostring(run.workers.max_executors * run.workers.executor.cores)
      "spark.driver.cores"                                = tostring(run.workers.driver.cores)
      "spark.driver.memory"                               = "${run.workers.driver.memory_gib}g"
      "spark.dynamicAllocation.initialExecutors"          = tostring(run.workers.initial_executors)
      "spark.dynamicAllocation.maxExecutors"              = tostring(run.workers.max_executors)
      "spark.emr-serverless.driverEnv.AWS_DEFAULT_REGION" = var.region
      "spark.executor.cores"                              = tostring(run.workers.executor.cores)
      "spark.executor.memory"                             = "${run.workers.executor.memory_gib}g"
      # botocore reads AWS_DEFAULT_REGION, and EMR sets AWS_REGION.
      "spark.executorEnv.AWS_DEFAULT_REGION" = var.region
    }, { for disk in [run.workers.executor.disk_gib] : "spark.emr-serverless.executor.disk" => "${disk}g" if disk != null })
  }
}
