# The dashboard of an account: a section for each part of it that exists, in widgets.tf. A widget is as wide as a third;
# without a position, CloudWatch puts it at the next free one.
locals {
  widgets = flatten([
    for section in local._sections : [
      { type = "text", width = 24, height = 1, properties = { markdown = "## ${section.title}", background = "transparent" } },
      [for widget in section.widgets : {
        type  = "metric"
        width = 8, height = 6
        properties = {
          title   = widget.title
          metrics = widget.metrics
          period  = 300
          region  = try(widget.region, var.platform.region)
          stat    = try(widget.stat, "Maximum")
          view    = "timeSeries"
          yAxis   = { left = { label = widget.unit, min = 0, showUnits = false } }
        }
      }],
    ] if length(section.widgets) > 0
  ])
}

resource "aws_cloudwatch_dashboard" "this" {
  dashboard_name = var.platform.prefix
  dashboard_body = jsonencode({ widgets = local.widgets })
}
