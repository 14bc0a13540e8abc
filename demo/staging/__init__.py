"""Five related tables that change as an Oracle database does, and what staging makes of them."""
