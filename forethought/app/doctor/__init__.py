"""doctor: whether this installation works, part by part."""
