"""One file per foreign framework; nothing here is imported unless it is used."""
