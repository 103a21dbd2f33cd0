"""Questions over generated folders of 200 to 2,000 files, with computed answers."""
