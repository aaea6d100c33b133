"""Measures how well what a person means is understood, on data that was labelled by hand."""
