"""The door of localcloud: every call arrives here, is answered, and is logged."""
