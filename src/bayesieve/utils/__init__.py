"""What is truly general and belongs to nobody; neither drawing nor estimators."""
