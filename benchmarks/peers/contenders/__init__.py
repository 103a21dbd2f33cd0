"""A file for each framework. `opened(url, look_up, options)` yields a function that plays one task.

The function takes a Task and returns the final answer's text; what goes wrong it raises.
"""
