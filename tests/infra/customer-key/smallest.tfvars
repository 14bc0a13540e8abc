account_id  = "222222222222"
alias       = "penstock-analytics-tables"
description = "The tables of penstock-analytics"
