"""The built-in compiler: plain English in, rules out, and no word of it unaccounted for."""
