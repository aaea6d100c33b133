"""A model's reading of a constitution. It proposes data in a closed schema; code decides what becomes of it."""
