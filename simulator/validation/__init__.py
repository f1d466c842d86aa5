"""Published measurements beside predictions: tables of rows become scenarios, predictions and signed errors."""
