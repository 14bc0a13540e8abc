"""The door of localcloud: every call comes in here, is answered, and is logged."""
