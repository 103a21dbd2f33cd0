"""A corpus of documents with a fact each, and who reads it.

    make bench-documents [BENCH="--only word --readers forethought,markitdown"]

`cases/*.yaml` hold the files by kind: what each is made of, what a person would ask about it, and the fact
that a reader's text must hold. `builders/` make the files, `corpus.py` judges a text, `__main__.py` compares
Forethought with other readers.
"""
