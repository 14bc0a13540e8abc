# What the platform makes of Glue and EMR Serverless, each as small as it can be.

variable "compatibility" {
  type = string
}

variable "definition" {
  type = string
}

resource "aws_glue_registry" "this" {
  registry_name = "plant"
}

resource "aws_glue_schema" "this" {
  compatibility     = var.compatibility
  data_format       = "AVRO"
  registry_arn      = aws_glue_registry.this.arn
  schema_definition = var.definition
  schema_name       = "readings"
}

resource "aws_glue_catalog_database" "this" {
  name = "lake"
}

resource "aws_glue_catalog_table" "this" {
  database_name = aws_glue_catalog_database.this.name
  name          = "readings"
  parameters    = { compatibility = var.compatibility }
}

resource "aws_emrserverless_application" "this" {
  name          = "lake"
  release_label = "emr-spark-8.1.0"
  type          = "spark"

  initial_capacity {
    initial_capacity_type = "Driver"

    initial_capacity_config {
      worker_count = 1

      worker_configuration {
        cpu    = "2 vCPU"
        memory = "4 GB"
      }
    }
  }

  maximum_capacity {
    cpu    = "8 vCPU"
    memory = "32 GB"
  }
}
