"""The policy that is in force until the owner writes another: data only."""
