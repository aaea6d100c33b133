"""Tests. `unit/` mirrors the rooms, `corpus/` is data, `spec/` the reference, `properties/` the promises."""
