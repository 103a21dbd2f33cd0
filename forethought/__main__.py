"""`python -m forethought`: the command line, also where its script is not on the PATH."""

from forethought.app.main import main

main()
