policies  = { work = jsonencode({ Statement = [{ Sid = "Nothing" }] }) }
role_name = "penstock-job-stage"
