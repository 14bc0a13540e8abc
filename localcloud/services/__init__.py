"""The services of localcloud: importing a module here registers its operations."""
