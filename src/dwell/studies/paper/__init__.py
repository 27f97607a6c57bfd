"""The paper's simulations repeated: its statements judged, its figures drawn, a report written."""
